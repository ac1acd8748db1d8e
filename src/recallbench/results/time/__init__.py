"""Time in a result: what a question could see, and what it could see though it was said later."""
