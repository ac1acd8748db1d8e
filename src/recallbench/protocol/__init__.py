"""The frozen rules, as data."""
