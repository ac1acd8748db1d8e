"""The controls of a result: what stands beside the system under test on the same questions."""
