"""A store whose haystacks grow, as a person reads it."""
