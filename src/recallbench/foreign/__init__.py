"""Result folders that other tools wrote: read, audited, and scored under every definition."""
