"""What a result may be called: gates, checks, and the audit that decides it again from its rankings."""
