from __future__ import annotations

import re

import numpy as np

from recallbench.reports.stages.flow import flow
from recallbench.reports.stages.table import did_table, idle_sentences, kinds_table, reading, worth_table
from recallbench.results.effect_part import GoldPart
from recallbench.results.metrics import OVERALL
from recallbench.results.pipeline_part import PipelinePart, StagePart
from recallbench.results.stage_figures import effect_parts
from recallbench.retrieval.record import Retrieval
from recallbench.retrieval.stages.stage import Kind
from scoring.staged_retrieval import STAGES, staged_retrieval


def pipeline(retrieval: Retrieval, stages: dict[str, Kind]) -> PipelinePart:
    slices = {OVERALL: np.ones(4, dtype=bool)}
    slices |= {kind: np.array([q.kind == kind for q in retrieval.questions]) for kind in ("one", "two", "none")}
    effects = effect_parts(stages, retrieval, slices)
    parts = [
        StagePart(name=name, kind=kind, method=name, options={}, settings={}, effect=effects.get(name))
        for name, kind in (stages | {"model": "generate"}).items()
    ]
    return PipelinePart(sha256="", words="", stages=parts)


WHOLE = pipeline(staged_retrieval(), STAGES)


def test_what_each_stage_did_in_a_table() -> None:
    table = did_table(WHOLE, {"p50 ms": {"rrf": "0.12"}})
    assert ", ".join(table.columns) == (
        "stage, kind, questions, changed, first 10 changed, promoted, demoted, lost, recall_any@10, ceiling of any, "
        "recall_frac@10, ceiling of frac, p50 ms"
    )
    assert table.rows == [
        ["dense", "search", "3", "1", "1", "1 in 1", "0", "–", "0.3333", "0.6667", "0.1667", "0.5000", "–"],
        ["lexical", "search", "3", "1", "1", "0", "0", "–", "0.3333", "0.3333", "0.3333", "0.3333", "–"],
        ["rrf", "fuse", "3", "2", "2", "1 in 1", "1 in 1", "1 in 1", "0.3333", "0.6667", "0.3333", "0.5000", "0.12"],
        ["mmr", "diversify", "3", "0", "0", "0", "0", "–", "0.3333", "0.6667", "0.3333", "0.5000", "–"],
        ["cross", "rerank", "3", "3", "2", "1 in 1", "1 in 1", "–", "0.3333", "0.6667", "0.1667", "0.5000", "–"],
        ["model", "generate", *["–"] * 11],
    ]


def test_the_pipeline_with_and_without_each_stage_in_a_table() -> None:
    rows = {(row[0], row[1]): list(row[2:]) for row in worth_table(WHOLE).rows}
    # Independent questions: of two, one is won by dense, and two flips of one question reach no p below 1.
    assert rows["dense", "recall_any@10"][:4] == ["2", "0.0000", "0.5000", "+0.5000"]
    assert rows["dense", "recall_any@10"][5:] == ["1.0000", "1.0000", "1/0", "run again"]
    assert rows["cross", "recall_any@10"][:4] == ["2", "0.5000", "0.5000", "0.0000"]
    assert rows["cross", "recall_any@10"][5:] == ["1.0000", "1.0000", "1/1", "kept lists"]
    # q4, the other of its kind, failed; q3 has no gold.
    kinds = {(row[0], row[1]): row[2] for row in kinds_table(WHOLE).rows}
    assert kinds == {(stage, kind): "1" for stage in STAGES for kind in ("one", "two")}


def test_a_stage_that_changed_nothing_is_told() -> None:
    assert idle_sentences(WHOLE) == ["mmr changed none of 3 rankings"]
    retrieval = staged_retrieval()
    for trace in retrieval.traces[:3]:
        handed = {each.stage: each for each in trace.handed}
        # Two behind the cut change places.
        swapped = (*handed["mmr"].positions[:11], *handed["mmr"].positions[:10:-1])
        object.__setattr__(handed["cross"], "positions", swapped)
        object.__setattr__(trace, "without", {"lexical": retrieval.rankings[int(trace.question_id[1]) - 1].positions})
    assert idle_sentences(pipeline(retrieval, STAGES)) == [
        "lexical changed none of 3 rankings: without it the pipeline finds the same",
        "mmr changed none of 3 rankings",
        "cross reordered 1 of 3 rankings, but changed no set of the first 10: recall can't tell",
    ]
    retrieval.traces = [type(trace)(trace.question_id) for trace in retrieval.traces]
    assert "mmr worked on no question" in idle_sentences(pipeline(retrieval, STAGES))


def test_the_reading_names_what_is_compared_with_what() -> None:
    first, *_, lost, paired, _ = reading(WHOLE)
    assert first.endswith(
        "dense, lexical with the pipeline without it; rrf with the first leg; mmr, cross with its input."
    )
    assert lost.startswith("lost: gold that dense, the leg with the highest recall_any@10,")
    assert paired.endswith("Without dense the pipeline was run once more.")
    other = WHOLE.model_copy(update={"stages": [WHOLE.stages[1], WHOLE.stages[0], *WHOLE.stages[2:]]})
    assert any(line.startswith("without fusion the first leg, lexical, goes on alone") for line in reading(other))


def test_fusion_is_compared_with_the_best_leg_wherever_that_stands() -> None:
    """The dense leg is given q1's gold too: alone it finds both, of which the whole pipeline has q2's."""
    stages: dict[str, Kind] = {"lexical": "search", "dense": "search", "rrf": "fuse", "mmr": "diversify"}
    retrieval = staged_retrieval()
    for trace in retrieval.traces[:3]:
        dense = next(each for each in trace.handed if each.stage == "dense")
        if trace.question_id == "q1":
            object.__setattr__(dense, "positions", (20, *dense.positions[:-1]))
        object.__setattr__(trace, "alone", {"dense": dense.positions})
    rrf = effect_parts(stages, retrieval, {OVERALL: np.ones(4, dtype=bool)})["rrf"]
    assert (rrf.against, rrf.best_leg) == ("best leg", "dense")
    assert rrf.demoted == rrf.lost == GoldPart(segments=1, questions=1)
    of_best = rrf.without[OVERALL][0]
    assert (of_best.n, of_best.without, of_best.value) == (2, 1.0, 0.5)
    part = pipeline(retrieval, stages)
    assert "without fusion dense, the best leg, goes on alone." in reading(part)


def test_legs_stand_side_by_side_in_the_flow_and_an_idle_stage_is_marked() -> None:
    lines = flow(WHOLE)
    names = [re.findall("<strong>(.*?)</strong>", line) for line in lines]
    assert [found for found in names if found] == [
        ["question"],
        ["dense", "lexical"],
        ["rrf"],
        ["mmr"],
        ["cross"],
        ["model"],
        ["answer"],
    ]
    assert [re.findall("<strong>(.*?)</strong>", line)[0] for line in lines if 'class="idle"' in line] == ["mmr"]
