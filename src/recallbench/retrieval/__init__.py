"""Questions put to a store, and the rankings that came back."""
