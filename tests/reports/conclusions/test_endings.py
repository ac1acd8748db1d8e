"""How commands end that look at one thing: costs, downloads, labels, canaries, logs and samples."""

from __future__ import annotations

from pathlib import Path

import pytest

from recallbench.corpora.labelled_sets.canary_record import CanaryPower, CanaryRecord
from recallbench.corpora.recall_log import Recall
from recallbench.reports import costs, log_scores
from recallbench.reports.canary import check, drawn
from recallbench.reports.conclusions.fetched import fetched
from recallbench.reports.conclusions.labelling import imported, interrupted, labelled
from recallbench.studies.logs import sampled
from recallbench.studies.logs.sampling import QuerySample, SampledQuery


def cost(running: float | None, whole: float | None, *unpriced: str) -> str:
    unit = costs.UnitPart.model_construct(what="1,000 queries", running=running, whole=whole, unpriced=list(unpriced))
    document = costs.CostDocument.model_construct(per=[unit], currency="USD", date="2026-05-01", prices="estimates")
    return str(costs.conclusion(document))


def test_costs() -> None:
    assert cost(0.012, 0.5) == (
        "1,000 queries cost 0.0120 USD, 0.500 with ingest and index shared out; "
        "by prices of 2026-05-01 (estimates), quantities as recorded"
    )
    assert cost(0.012, None, "processor seconds") == (
        "1,000 queries cost 0.0120 USD; at the least: processor seconds has no price or was not counted; "
        "next: name prices of your own with --prices FILE"
    )
    assert cost(None, None).startswith("What a query costs is not known; ")


def test_downloads() -> None:
    assert str(fetched("locomo", is_corpus=True)) == (
        "locomo is here; every file has the hash that is pinned for it; next: recallbench run locomo"
    )
    assert str(fetched("bge-m3", is_corpus=False)).endswith("next: recallbench run locomo --embedder bge-m3")
    assert str(fetched("hub:a/b@1", is_corpus=False)) == (
        "hub:a/b@1 is here; every file is that of the revision, and results will state its hash; "
        "next: recallbench run locomo --embedder hub:a/b@1"
    )


@pytest.mark.parametrize(
    ("now", "every", "left", "begun", "line"),
    [
        (3, 5, 0, 0, "3 queries labelled in team/gold.jsonl, 5 in all; next: recallbench evaluate team"),
        (
            *(1, 1, 2, 0),
            "1 query labelled in team/gold.jsonl, 1 in all; 2 wait; "
            "next: recallbench label team --query 'cat?' goes on",
        ),
        (
            *(0, 0, 2, 0),
            "0 queries labelled in team/gold.jsonl, 0 in all; next: recallbench label team --query 'cat?' goes on",
        ),
        (
            *(0, 0, 2, 1),
            "0 queries labelled in team/gold.jsonl, 0 in all; 2 wait, 1 of them begun, its labels saved; "
            "next: recallbench label team --query 'cat?' goes on",
        ),
        (
            *(1, 1, 3, 2),
            "1 query labelled in team/gold.jsonl, 1 in all; 3 wait, 2 of them begun, their labels saved; "
            "next: recallbench label team --query 'cat?' goes on",
        ),
    ],
)
def test_labels(now: int, every: int, left: int, begun: int, line: str) -> None:
    again = "recallbench label team --query 'cat?'"
    assert str(labelled("team", "team/gold.jsonl", now, every, left, begun, again)) == line


def test_labels_that_were_interrupted() -> None:
    told = labelled("team", "gold.jsonl", 2, 5, 3, 0, "recallbench label team")
    assert str(interrupted(told, 5, "what was open is not")) == (
        "2 queries labelled in gold.jsonl, 5 in all; all of them are saved; what was open is not; "
        "next: recallbench label team goes on"
    )
    told = labelled("team", "gold.jsonl", 0, 0, 0, 0, "recallbench label team")
    assert interrupted(told, 0, "") == told


def test_imports() -> None:
    assert str(imported("my team", "gold.jsonl", "a.csv", 1, 0, 0, 1, 0)) == (
        "1 question of a.csv taken into gold.jsonl; next: recallbench evaluate 'my team'"
    )
    assert str(imported("team", "gold.jsonl", "a.csv", 4, 0, 0, 1, 2)) == (
        "4 questions of a.csv taken into gold.jsonl; 3 have no ids, so texts decide; next: recallbench "
        "evaluate team --match hybrid"
    )
    assert str(imported("team", "gold.jsonl", "a.csv", 4, 0, 0, 4, 2)) == (
        "4 questions of a.csv taken into gold.jsonl; 2 columns were passed over, named above; next: recallbench "
        "evaluate team"
    )
    assert str(imported("team", "gold.jsonl", "a.csv", 4, 0, 0, 0, 0)).endswith("evaluate team --match tokens")
    assert str(imported("team", "gold.jsonl", "a.csv", 1, 2, 3, 6, 0)) == (
        "1 question of a.csv taken into gold.jsonl, 2 replaced, 3 were there already; next: recallbench evaluate team"
    )
    assert str(imported("team", "gold.jsonl", "a.csv", 0, 0, 3, 3, 0)).startswith(
        "Nothing of a.csv is new: gold.jsonl has each of its 3 rows already; next: "
    )


def checked(*stale: bool | None) -> str:
    reasons = [
        check.StalenessPart(what=what, stale=is_, reason="") for what, is_ in zip(["age", "mix"], stale, strict=True)
    ]
    return str(
        check.conclusion(
            check.CanaryCheck.model_construct(canary="few", stale=any(stale), reasons=reasons, weighted=[])
        )
    )


def test_a_canary_that_was_checked() -> None:
    assert checked(False, False) == "few is fresh; next: go on measuring it: recallbench evaluate few"
    assert checked(False, None) == (
        "few is fresh; nothing tells of its mix; next: go on measuring it: recallbench evaluate few"
    )
    assert checked(False, True) == (
        "few is stale, by its mix; next: draw it anew: recallbench canary few --refresh --folder NEW"
    )


def test_a_canary_that_was_drawn() -> None:
    detects = CanaryPower.model_construct(drop=0.081, measure="recall_any@10")
    record = CanaryRecord.model_construct(questions=200, detects=detects, stale_after=None)
    assert str(drawn.conclusion(record, "few")) == (
        "few is a canary of 200 questions; a drop of recall_any@10 by 0.081 or more is seen in about 8 of 10 runs; "
        "next: measure it: recallbench evaluate few"
    )
    none = CanaryRecord.model_construct(
        questions=20, detects=CanaryPower.model_construct(drop=None, measure="mrr@50"), stale_after="30d"
    )
    assert str(drawn.conclusion(none, "few")) == (
        "few is a canary of 20 questions; too few to see any drop of mrr@50; next: measure it: recallbench evaluate few"
    )


def scored(value: float | None, low: float | None, waiting: int = 0) -> str:
    mean = log_scores.MeanPart(measure="recall_any@10", value=value, low=low, high=low and low + 0.2, method="t")
    overall = log_scores.SlicePart.model_construct(measures=[mean], answerable_queries=40, recalls=12_000)
    scores = log_scores.LogScores.model_construct(overall=overall, unlabelled=waiting)
    return str(log_scores.conclusion(scores))


def test_a_log_that_was_scored() -> None:
    assert scored(0.5, 0.4) == (
        "Of the whole log recall_any@10 is 0.5000 (95% 0.4000 to 0.6000), from 40 queries for 12,000 logged recalls; "
        "each kind counts by its recalls, so that the estimate is of all that was logged"
    )
    assert "; 3 of the sample have no answer yet; next: say what is relevant: recallbench label DIR" in scored(
        0.5, 0.4, 3
    )
    assert "; they give no interval; next: " in scored(0.5, None)
    assert scored(None, None).startswith("No figure for the log: 40 queries for 12,000 logged recalls; next: ")


def test_a_sample_that_was_drawn() -> None:
    query = SampledQuery(1, Recall("what?", ("a",), {}, None, "", "fact", {}))
    sample = QuerySample((query,), {"fact": 30, "plan": 1}, {"fact": 1})
    assert str(sampled.conclusion(sample, "kind", Path("s.jsonl"))) == (
        "1 query drawn that stands for 31 logged recalls, 2 values of kind; the same seed and log draw the same "
        "queries; next: say what is relevant: recallbench label DIR --queries s.jsonl"
    )
    assert sampled.sample_table(sample).rows == [("what?", "fact", "1")]


def test_the_lines_stay_short() -> None:
    """Folders and files of twenty characters, and large counts."""
    folder, book, file = "our-team-of-twenty-1", "our-team/gold.jsonl", "answers-of-ours.jsonl"
    mean = log_scores.MeanPart(measure="recall_frac@10", value=0.5, low=0.4, high=0.6, method="t")
    overall = log_scores.SlicePart.model_construct(measures=[mean], answerable_queries=1982, recalls=12_000_000)
    detects = CanaryPower.model_construct(drop=0.081, measure="recall_frac@10")
    queries = tuple(
        SampledQuery(
            1,
            Recall(f"q{n}", ("a",), {}, None, "", "x", {}),
        )
        for n in range(200)
    )
    again = f"recallbench label {folder} --queries questions.txt"
    left = labelled(folder, book, 120, 240, 1982, 1, again)
    unit = costs.UnitPart.model_construct(
        what="1,000 queries", running=0.0000123, whole=0.0000456, unpriced=["tokens of prompts", "tokens of answers"]
    )  # fmt: skip
    priced = costs.CostDocument.model_construct(
        per=[unit], currency="USD", date="2026-06-20", prices="those that come along, estimates of their day"
    )  # fmt: skip
    lines = [
        costs.conclusion(priced),
        *(log_scores.conclusion(log_scores.LogScores.model_construct(overall=overall, unlabelled=n)) for n in (0, 99)),
        drawn.conclusion(CanaryRecord.model_construct(questions=200, detects=detects, stale_after=None), folder),
        sampled.conclusion(QuerySample(queries, {f"{n}": 99_999 for n in range(20)}, {}), "tenant", Path(file)),
        left,
        interrupted(left, 240, "what was open is not"),
        imported(folder, book, file, 1982, 200, 300, 900, 12),
        fetched("canary-longmemeval-s", is_corpus=True),
    ]
    assert [str(line) for line in lines if len(str(line)) > 220] == []
