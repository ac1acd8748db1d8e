"""A graph database over Bolt, ranked by the entities that texts share."""
