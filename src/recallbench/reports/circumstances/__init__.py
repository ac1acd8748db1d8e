"""What differs from run to run: how long its phases took, how its vectors came about, on which machine."""
