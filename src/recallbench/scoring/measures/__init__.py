"""The measures, one per module; the registry lists them and reads their names back."""
