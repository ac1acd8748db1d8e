"""Figures of a store under load: percentiles, saturation, the generator's own lag, and two systems in turns."""
