"""What a store of a size takes, from what smaller ones took."""
