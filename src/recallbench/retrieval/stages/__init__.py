"""The stages of a pipeline: what stands between a question and its ranking, one file for each method."""
