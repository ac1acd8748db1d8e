"""The files of a result: written all or none, each with a hash, without corpus text unless an option adds it."""
