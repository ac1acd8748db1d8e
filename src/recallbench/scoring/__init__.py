"""Rankings judged by gold: measures with chance, ceiling and intervals, and tests of differences. Pure: no I/O."""
