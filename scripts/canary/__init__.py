"""The canary corpora: texts as data, and one module for each shape."""
