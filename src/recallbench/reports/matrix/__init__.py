"""A matrix of encoders and corpora: its document, tables, picture and page."""
