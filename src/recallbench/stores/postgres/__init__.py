"""Postgres: connections, the embedded server, and what its stores share."""
