"""What a result may be called: the gates, the bands, the verdict, and the audit that decides it again."""
