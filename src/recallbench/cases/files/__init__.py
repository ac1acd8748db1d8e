"""Files of rankings and of what is relevant, whatever tool wrote them."""
