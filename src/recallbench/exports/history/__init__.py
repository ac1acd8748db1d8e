"""History tables in Postgres, and how they come about."""
