"""What runs many times: repeats, versions, growing haystacks, logs."""
