"""Results as tables, and the programs that such tables are handed to."""
