"""How long callers of a store wait: closed loops up to saturation, then open loops at shares of it."""
