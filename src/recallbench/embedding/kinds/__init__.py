"""Kinds of registered encoders that run without the engines of transformers."""
