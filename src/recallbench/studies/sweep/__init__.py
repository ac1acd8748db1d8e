"""Many configurations of one memory, measured alike: which one to take, and how sure that is."""
