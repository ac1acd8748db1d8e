"""A pipeline: stages in a row, read from a file, opened as a store that every command can measure."""
