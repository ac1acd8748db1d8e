"""One run, from its options to a result folder; and its dry run."""
