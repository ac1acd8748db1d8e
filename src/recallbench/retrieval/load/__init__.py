"""Questions put to a store under load: when each is to start, who asks it, and how long its caller waits."""
