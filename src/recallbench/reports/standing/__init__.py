"""What the protocol calls a result."""
