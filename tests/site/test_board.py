"""The standing of a group, its picture, and the history of a system: figures of real results, changed by hand."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from recallbench.compare.rules import parse_requirement
from recallbench.progress import Silent
from recallbench.results.costs.prices import read_prices
from recallbench.scoring.measures.measure import Measure
from recallbench.scoring.measures.registry import parse
from recallbench.site import board as board_module
from recallbench.site.board import Board, make_board
from recallbench.site.board_table import keeps, refuse_gate
from recallbench.site.choices import SiteChoices
from recallbench.site.curve import standing_of
from recallbench.site.history import series_of
from recallbench.site.index_page import Index, group_words
from recallbench.site.links import Links
from recallbench.site.picture import draw
from recallbench.site.places import find_places

MEASURES = tuple(map(parse, ("recall_any@10", "mrr@50", "ndcg@10")))
CHOICES = SiteChoices(MEASURES, read_prices(), {})


@pytest.fixture(scope="module")
def board(audited: Path) -> Board:
    return make_board(find_places([audited]), CHOICES, Silent())


HERE, THERE = ("x86_64", "AMD", "2", "embedded"), ("x86_64", "Intel", "8", "embedded")


@pytest.mark.parametrize("after", ["opening", "reading"])
def test_a_folder_that_is_exchanged_while_it_is_read_is_kept_out(
    audited: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: str
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "settings"))
    choices = replace(CHOICES, kept_audits=tmp_path / "cache")
    place, honest = Path(shutil.copytree(audited / "exact", tmp_path / "exact")), audited / "exact"
    assert make_board(find_places([place]), choices, Silent()).admitted == 1  # its audit is kept now
    step = {"opening": "admit", "reading": "result_entry"}[after]
    whole = getattr(board_module, step)

    def exchanged(*words: Any, **more: Any) -> Any:
        if after == "opening":  # what was opened is forged, what the audit is looked up for is not
            shutil.copytree(honest, place, dirs_exist_ok=True)
        else:
            (place / "report.md").write_text("written meanwhile")
        return whole(*words, **more)

    if after == "opening":
        metrics = json.loads((place / "metrics.json").read_text())
        metrics["store"]["version"] = "another"
        (place / "metrics.json").write_text(json.dumps(metrics))
    monkeypatch.setattr(board_module, step, exchanged)
    board = make_board(find_places([place]), choices, Silent())
    assert board.admitted == 0
    assert after == "opening" or board.apart[0].reason.startswith("exact changed while it was read")


def test_the_front_is_what_no_other_result_beats(board: Board) -> None:
    (group,) = board.groups
    best, other = group.entries  # bm25 finds more than vectors of hashes
    assert [entry.name for entry in group.entries] == ["bm25", "exact"]
    entries = [
        replace(best, p95_ms=4.0, usd_per_1000=2.0, hardware=HERE),
        replace(other, p95_ms=1.0, usd_per_1000=3.0, hardware=HERE),
        replace(other, p95_ms=5.0, usd_per_1000=4.0, hardware=HERE, place=replace(other.place, name="slow")),
        replace(other, p95_ms=0.1, usd_per_1000=None, hardware=THERE, unpriced="tokens of a model"),
    ]
    standing = standing_of(replace(group, entries=entries), MEASURES[0], "USD")
    p95, cost = standing.curves
    assert [p95.entries[place].name for place in p95.front] == ["exact", "bm25"]
    assert [cost.entries[place].name for place in cost.front] == ["bm25"]
    assert (p95.prices, cost.prices) == ((4.0, 1.0, 5.0), (2.0, 3.0, 4.0))
    assert p95.left_out == (
        "1 of the results were timed elsewhere than on x86_64, AMD, 2, embedded: not drawn against p95.",
    )
    assert cost.left_out == (
        "1 of the results used what has no price, or was not counted, and are not drawn against cost: tokens of a "
        "model.",
    )
    assert standing.fronts(entries[0]) == f"p95 ({p95.shares[0]:.0%}), usd_per_1000 ({cost.shares[0]:.0%})"
    assert standing.fronts(entries[2]) == ""


def test_a_wide_range_of_prices_is_drawn_in_powers_of_ten_and_a_narrow_one_is_not(board: Board) -> None:
    (group,) = board.groups
    for high, ticks in ((1000.0, {">1<", ">10<", ">100<", ">1000<"}), (2.0, {">1.0<", ">1.2<", ">2.0<"})):
        entries = [
            replace(entry, p95_ms=price, hardware=HERE, usd_per_1000=None)
            for entry, price in zip(group.entries, (high, 1.0), strict=True)
        ]
        of = replace(group, entries=entries)
        plot = draw(of, standing_of(of, MEASURES[0], "USD"), MEASURES[0], ())
        assert plot is not None
        drawn = plot.element("group-7")
        assert all(tick in drawn for tick in ticks)
        assert 'aria-labelledby="group-7-title group-7-said"' in drawn
        assert "bm25 0.8354 at" in plot.description


def test_who_leads_is_told_with_conversations_drawn_whole(board: Board) -> None:
    (group,) = board.groups
    entries = [
        replace(entry, p95_ms=ms, hardware=HERE, usd_per_1000=None)
        for entry, ms in zip(group.entries, (4.0, 1.0), strict=True)
    ]
    # Ten questions in two conversations: in the first one bm25 finds more, in the second it finds less.
    relevant = [np.array(values, dtype=float) for values in ([1] * 6 + [0] * 4, [0] * 6 + [1] * 4)]
    told = {}
    for name, clusters in (("whole", ["a"] * 6 + ["b"] * 4), ("alone", [""] * 10)):
        rankings = [_Found(values, tuple(clusters)) for values in relevant]
        judged = [replace(entry, rankings=each) for entry, each in zip(entries, rankings, strict=True)]  # type: ignore[arg-type]
        base = replace(group.base, rankings=rankings[0])  # type: ignore[arg-type]
        told[name] = standing_of(replace(group, base=base, entries=judged), MEASURES[0], "USD")
    # Of four draws of two conversations only "b, b" puts bm25 below: a quarter. Of ten questions alone more do.
    whole, alone = (told[name].curves[0].shares[0] for name in ("whole", "alone"))
    assert whole == pytest.approx(0.75, abs=0.03)
    assert alone == pytest.approx(0.633, abs=0.03)  # six tenths at ten draws: P(more than five)


class _Found:
    """What a standing asks of rankings: here, by hand."""

    def __init__(self, values: Any, clusters: tuple[str, ...]) -> None:
        self.found, self.clusters = values, clusters

    def counted(self, measure: Measure) -> Any:
        return np.ones(len(self.found), dtype=bool)

    def values(self, measure: Measure) -> Any:
        return self.found


def test_one_result_has_no_picture_and_nothing_to_be_told_from(board: Board) -> None:
    (group,) = board.groups
    alone = replace(group, entries=group.entries[:1])
    standing = standing_of(alone, MEASURES[0], "USD")
    assert (standing.best, standing.curves) == (None, ())
    assert draw(alone, standing, MEASURES[0], ()) is None
    assert group_words(Index(board, [standing], CHOICES, Links(Path("x"))), alone, standing) == []


def test_gates_hold_the_figures_of_an_entry(board: Board) -> None:
    entry = replace(board.groups[0].entries[0], p95_ms=20.0, usd_per_1000=None)
    for text, kept in (
        ("recall_any@10 >= 0.83", True),
        ("recall_any@10 >= 0.84", False),
        ("p95 <= 20ms", True),
        ("p95 < 20ms", False),
        ("usd_per_1000 < 100", False),  # nobody knows what it costs
    ):
        assert keeps(entry, parse_requirement(text)) is kept
    assert refuse_gate(parse_requirement("usd_per_1000 < 1"), MEASURES, "EUR") == "the prices are in EUR"
    assert refuse_gate(parse_requirement("p95 < 1ms"), MEASURES, "EUR") == ""


def test_a_series_holds_repeats_to_the_protocol_s_band_and_versions_to_none(board: Board) -> None:
    (group,) = board.groups
    first = group.entries[0]
    assert first.metrics is not None
    corpus = first.metrics.corpus.model_copy(update={"name": "locomo"})
    evidence = {"server": "/srv/pg/bin/postgres, 17", "pgvector": "0.8 of /srv/pg/vector.so"}
    store = first.metrics.store.model_copy(update={"evidence": evidence})
    deviation = first.metrics.deviations[0].model_copy(update={"kind": "store", "detail": "/srv/own/store.py"})
    locomo = first.metrics.model_copy(update={"corpus": corpus, "store": store, "deviations": [deviation]})
    headline = [part.model_copy(update={"band": 0.005}) for part in locomo.headline]
    metrics = locomo.model_copy(update={"headline": headline})
    entries = [
        replace(
            first,
            metrics=metrics,
            version=version,
            started=datetime(2026, 11, day, tzinfo=UTC),
            place=replace(first.place, name=f"result {day}"),
        )
        for day, version in ((3, "0.4.2"), (1, "0.4.1"), (2, "0.4.2"))
    ]
    (series,) = series_of(replace(group, entries=entries), MEASURES)
    assert [part.version for part in series.document.versions] == [
        "0.4.1 2026-11-01",
        "0.4.2 2026-11-02",
        "0.4.2 2026-11-03",
    ]
    figures = series.document.versions[0].figures
    assert [(part.estimate.measure, part.protocol_name, part.band) for part in figures] == [
        ("recall_any@10", "recall@10", 0.005),
        ("mrr@50", "MRR", 0.005),
        ("ndcg@10", "ndcg@10", None),
    ]
    assert len(series.document.pairs) == 4  # two primary measures between each two neighbours
    told = [sentence.split(":")[0] for sentence in series.repeats]
    assert told == ["2 results of 0.4.2, recall@10", "2 results of 0.4.2, MRR"]
    assert "inside the band: runs lie 0.0000 apart" in series.repeats[0]
    document = series.document
    assert (document.server, document.pgvector, document.deviations) == (
        "postgres",
        "0.8 of vector.so",
        ["store: store.py"],
    )


def test_a_single_result_and_another_system_make_no_series(board: Board) -> None:
    assert series_of(board.groups[0], MEASURES) == []
