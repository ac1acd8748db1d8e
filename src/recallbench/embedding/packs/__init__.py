"""Portable vectors: those of a corpus under one encoder as one file, made on one machine and used on others."""
