"""What a study could see before it is made, and whether its population is still the same."""
