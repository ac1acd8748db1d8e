"""Tables, pages and plots that show results. Nothing here decides anything."""
