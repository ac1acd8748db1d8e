"""The last lines of the commands that compare and gate, in words."""
