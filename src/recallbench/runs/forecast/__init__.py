"""What a run will take on this machine, told before it begins."""
