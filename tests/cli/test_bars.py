"""Rate and time left, as they are told."""

from recallbench.cli.bars import pace


def test_pace() -> None:
    assert pace(50, 200, "texts", 5.0) == "10.0 texts/s, 0:15 left"
    assert pace(0, 200, "texts", 5.0) == "0.0 texts/s"
    assert pace(3_000_000, None, "B", 2.0) == "1.5 MB/s"
    assert pace(1, 7201, "texts", 1.0) == "1.0 texts/s, 120:00 left"
