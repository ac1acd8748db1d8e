"""Thresholds that fit a result, for whoever starts to gate with it."""
