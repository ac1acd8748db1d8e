"""How `recallbench doctor` ends."""

from __future__ import annotations

from recallbench.runs.readiness import ReadinessRow
from recallbench.runs.readiness_conclusion import is_ready, readiness_conclusion

HERE = ReadinessRow("store", "ready", "bm25")
WARNED = ReadinessRow("git", "warning", "no checkout")
NO_CORPUS = ReadinessRow("corpus", "NOT READY", "not found", "recallbench fetch locomo")
NO_WEIGHTS = ReadinessRow("weights", "NOT READY", "not found", "recallbench fetch bge-m3")
RUN, WITHOUT = "recallbench run locomo", "recallbench run canary-locomo, which needs none of it"


def test_all_that_is_needed_is_here() -> None:
    told = readiness_conclusion({"locomo": [HERE], "realtalk": [HERE]}, RUN, WITHOUT)
    assert str(told) == "Ready to measure locomo, realtalk; next: recallbench run locomo"
    warned = readiness_conclusion({"locomo": [HERE, WARNED]}, RUN, WITHOUT)
    assert str(warned) == (
        "Ready to measure locomo; the warnings above keep nothing from running; next: recallbench run locomo"
    )
    assert is_ready([HERE, WARNED])


def test_what_is_missing_is_named_with_the_one_command_that_helps_most() -> None:
    told = readiness_conclusion({"locomo": [NO_CORPUS, NO_WEIGHTS], "other": [NO_WEIGHTS]}, RUN, WITHOUT)
    assert str(told) == (
        "Not ready: locomo lacks corpus, weights; other lacks weights; next: recallbench fetch bge-m3; or "
        "recallbench run canary-locomo, which needs none of it"
    )
    assert told.tone == "bad"
    assert not is_ready([HERE, NO_CORPUS])


def test_what_is_ready_is_said_beside_what_is_not() -> None:
    told = readiness_conclusion({"locomo": [HERE], "other": [NO_WEIGHTS]}, RUN, "")
    assert str(told) == "Not ready: other lacks weights; ready: locomo; next: recallbench fetch bge-m3"


def test_the_line_stays_short_however_many_corpora_lack_something() -> None:
    many = {f"canary-longmemeval-{n}": [NO_CORPUS, *[NO_WEIGHTS] * (n % 2)] for n in range(6)}
    line = str(readiness_conclusion(many, RUN, WITHOUT))
    assert "; 4 more lack something; next: " in line
    assert len(line) <= 220
