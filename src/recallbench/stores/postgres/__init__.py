"""Postgres: connections, the embedded server, and parts that its stores share."""
