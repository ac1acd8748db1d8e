"""Gold from expected texts: the stored texts that match them, by one method or another."""
