"""The walk of a researcher: a corpus, baselines, a paired comparison, a sweep, and a plot, by the guides' words."""

from __future__ import annotations

from pathlib import Path

import pytest

from walks.walker import Walker, last_line

FIRST = "What a sweep prints, and what of it to believe"


def test_baselines_a_comparison_a_plot_and_a_sweep_on_the_canary(tmp_path: Path) -> None:
    walker, small = Walker(tmp_path), {"locomo": "canary-locomo"}
    for line in walker.reads("Many: a table and a picture", "compare"):
        done = walker.types(line, small if "locomo" in line.command else {})
        assert done.returncode == 0, line
    assert "</svg>" in (tmp_path / "systems.svg").read_text()
    assert "</html>" in (tmp_path / "systems.html").read_text()
    lines = walker.reads("Two: question by question", "compare")
    runs = [line for line in lines if line.command.startswith("recallbench run")]
    assert [walker.types(line, small).returncode for line in runs] == [0, 0]
    compared = walker.types(next(line for line in lines if line.command == "recallbench compare OLD NEW"))
    assert compared.returncode == 0
    assert "recall_any@10" in last_line(compared)
    dry, sweep = walker.reads(FIRST, "sweeps")
    (tmp_path / "first.toml").write_text((tmp_path / "first.toml").read_text().replace("minilm", "hash"))
    assert walker.types(dry, small).returncode == 0
    swept = walker.types(sweep, small)
    assert swept.returncode == 0
    assert "p1" in swept.stdout
    assert "p2" in swept.stdout


@pytest.mark.marked
@pytest.mark.real_data
def test_the_first_sweep_of_locomo_says_what_its_questions_support(
    tmp_path: Path, locomo_vectors: dict[str, str]
) -> None:
    walker = Walker(tmp_path, locomo_vectors)
    _, sweep = walker.reads(FIRST, "sweeps")
    swept = walker.types(sweep)
    assert swept.returncode == 0
    assert "6 clusters support 2 points with a test for each pair (smallest p 0.031)" in swept.stdout
