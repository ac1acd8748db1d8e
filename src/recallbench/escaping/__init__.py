"""Text that nobody vouches for, made harmless for where it lands: one module per target, and no second way."""
