"""A Grafana dashboard over the history tables."""
