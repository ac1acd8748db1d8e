"""What a run used, and what that cost."""
