"""Commands that are killed, frozen, filled up and misled, and then resumed: what a crash may do to a result."""
