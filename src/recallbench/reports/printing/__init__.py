"""What a command prints, in each of the formats."""
