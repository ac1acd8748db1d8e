"""Studies of many runs: repeats, versions, growing haystacks, logs."""
