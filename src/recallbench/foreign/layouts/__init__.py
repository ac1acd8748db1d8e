"""Result folders of other tools, turned into rankings and claims."""
