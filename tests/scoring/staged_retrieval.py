"""Four questions that went through a pipeline of five stages, small enough to be counted by hand."""

from __future__ import annotations

from recallbench.corpora.records import Question
from recallbench.retrieval.pipeline.trace import Handed, QuestionTrace
from recallbench.retrieval.ranking import Ranking
from recallbench.retrieval.record import Calls, Retrieval
from recallbench.retrieval.stages.stage import Kind

STAGES: dict[str, Kind] = {
    "dense": "search",
    "lexical": "search",
    "rrf": "fuse",
    "mmr": "diversify",
    "cross": "rerank",
}
TEN = tuple(range(10))
FORTIES = tuple(range(40, 50))


def handed(stage: str, *positions: int) -> Handed:
    """A list with scores that descend from 1."""
    return Handed(stage, positions, tuple(1 - i / 64 for i in range(len(positions))))


def staged_retrieval() -> Retrieval:
    """The dense leg has the gold of q1 in place 11 and that of q2 first; the lexical one q1's first and q2's nowhere.

    q3 has no answer, and q4 failed.
    """
    q1 = [
        handed("dense", *TEN, 20),
        handed("lexical", 20, *TEN),
        handed("rrf", 20, *TEN),
        handed("mmr", 20, *TEN),
        handed("cross", *TEN, 20),
    ]
    q2 = [
        handed("dense", 3, 0, 1),
        handed("lexical", *FORTIES),
        handed("rrf", *FORTIES, 3, 0, 1),
        handed("mmr", *FORTIES, 3, 0, 1),
        handed("cross", 3, *FORTIES, 0, 1),
    ]
    q3 = [handed(stage, *((0, 1) if stage != "cross" else (1, 0))) for stage in STAGES]
    finals = [each[-1] for each in (q1, q2, q3)]
    without: list[dict[str, tuple[int, ...]]] = [
        dict.fromkeys(STAGES, final.positions) | {"cross": list_before.positions}
        for final, list_before in zip(finals, (q1[3], q2[3], q3[3]), strict=True)
    ]
    without[1] |= {"dense": FORTIES, "lexical": (3, 0, 1), "rrf": (3, 0, 1)}
    traces = [
        QuestionTrace(f"q{n}", tuple(each), (), left, frozenset({"dense"}))
        for n, (each, left) in enumerate(zip((q1, q2, q3), without, strict=True), 1)
    ]
    golds = [frozenset({20}), frozenset({3, 30}), frozenset[int](), frozenset({5})]
    kinds = ("one", "two", "none", "one")
    return Retrieval(
        Calls(10, 50),
        questions=[
            Question("s", f"q{n}", "", gold, kind, abstention=not gold)
            for n, (gold, kind) in enumerate(zip(golds, kinds, strict=True), 1)
        ],
        candidates=[60] * 4,
        rankings=[
            *(Ranking(f"q{n}", final.positions, final.scores) for n, final in enumerate(finals, 1)),
            Ranking("q4", (), ()),
        ],
        failed=["q4"],
        traces=[*traces, QuestionTrace("q4")],
    )
