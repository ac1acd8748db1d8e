"""Commands that set up and list."""
