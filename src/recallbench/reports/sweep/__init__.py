"""What a person reads of a sweep."""
