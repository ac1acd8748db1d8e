"""Work on several machines by Ray: the one place that knows it. What the work is, its callers say."""
