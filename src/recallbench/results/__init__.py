"""A result as files: written whole or not at all, each with a hash, none with corpus text unless asked."""
