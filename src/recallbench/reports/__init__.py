"""Everything of a result that a person looks at: tables, pages, plots. Nothing here decides anything."""
