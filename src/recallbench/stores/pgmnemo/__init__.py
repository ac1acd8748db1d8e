"""The extension pgmnemo, measured through its own functions."""
