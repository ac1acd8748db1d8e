"""A static site over many folders: a board that only audited results get on, their history, and studies."""
