"""How measurements end: in a line of words."""
