"""How a run of several stores ends: a paired test decides who is first."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from hit_rankings import QUESTIONS, hits, rankings
from recallbench.compare.conclusions.stores import conclude_stores
from recallbench.results.metrics import OVERALL, Metrics
from recallbench.results.result import Result

GOLDEN = Path(__file__).parents[2] / "golden" / "results" / "canary_exact" / "metrics.json"
METRICS = Metrics.model_validate_json(GOLDEN.read_bytes())
FEW = tuple(f"c{place % 4}" for place in range(QUESTIONS))


class Ranked(Result):
    """A result with these rankings, which needs no folder."""

    def __init__(self, store: str, found: int, clusters: tuple[str, ...] = ("",) * QUESTIONS) -> None:
        leading = [
            part.model_copy(update={"measure": "recall_any@1"})
            for part in METRICS.estimates[OVERALL]
            if part.measure == "recall_any@10"
        ]
        named = METRICS.store.model_copy(update={"name": store})
        retrieval = METRICS.retrieval.model_copy(update={"depth": 1})
        fields = {"store": named, "estimates": {OVERALL: leading}, "retrieval": retrieval}
        super().__init__(Path(f"results/{store} {found}"), METRICS.model_copy(update=fields))
        self.__dict__["rankings"] = replace(rankings(hits(found)), clusters=clusters)


def test_equal_stores_have_no_winner() -> None:
    told = conclude_stores([Ranked("mine:A", 30), Ranked("mine:B", 30)])
    assert (told.happened, told.belief, told.tone) == (
        "Nobody is first: mine:A and mine:B can't be told apart by recall_any@1; both have 0.7500 "
        "(0.5981 to 0.8581), 40 questions",
        "",
        "open",
    )
    assert "3 systems can't be told apart by recall_any@1; each has 0.7500 " in str(
        conclude_stores([Ranked("A", 30), Ranked("B", 30), Ranked("C", 30)])
    )


def test_four_clusters_can_tell_nobody_apart() -> None:
    told = conclude_stores([Ranked("mine:A", 0, FEW), Ranked("mine:B", 40, FEW)])
    assert told.happened.startswith(
        "Nobody is first: mine:B and mine:A can't be told apart by recall_any@1; the highest has 1.0000"
    )


def test_a_difference_that_a_test_tells_has_a_winner() -> None:
    told = conclude_stores([Ranked("bm25", 20), Ranked("mine:B", 39)])
    assert (told.happened, told.belief, told.tone) == (
        "mine:B is first: recall_any@1 0.9750 (0.8712 to 0.9956), 40 questions",
        "a paired test tells it apart from bm25",
        "good",
    )


def test_stores_of_one_name_go_by_their_folders() -> None:
    told = conclude_stores([Ranked("same", 20), Ranked("same", 39)])
    assert str(told).startswith("results/same 39 is first: ")
    assert str(told).endswith("; a paired test tells it apart from results/same 20")


def test_stores_that_were_asked_nothing() -> None:
    asked = Ranked("A", 20)
    asked.metrics = asked.metrics.model_copy(update={"estimates": {OVERALL: []}})
    assert str(conclude_stores([asked, asked])) == "2 stores were asked nothing that has anything to find"
