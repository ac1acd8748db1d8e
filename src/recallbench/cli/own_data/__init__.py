"""Commands for data of one's own."""
