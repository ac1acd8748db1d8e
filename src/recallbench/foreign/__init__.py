"""Result folders of other tools: read, audited, and scored under every definition."""
