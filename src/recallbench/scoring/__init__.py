"""Rankings against gold: measures, what chance and an oracle would reach, and how sure a number is. Pure: no I/O."""
