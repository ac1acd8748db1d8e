"""How the canary corpora are made: texts as data, and one module per shape."""
