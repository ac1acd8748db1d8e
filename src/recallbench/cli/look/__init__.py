"""Commands that show results side by side."""
