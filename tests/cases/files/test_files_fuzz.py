"""Arbitrary files are either read or refused with a reason."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recallbench.cases.evaluation import score_answers
from recallbench.cases.files.gold_file import read_gold
from recallbench.cases.files.run_file import read_answers
from recallbench.errors import RecallBenchError

words = st.sampled_from(["q1", "q2", "a", "b", "", "\ud800", "\x1b[31m", "query|x", "…", "1", " "])
numbers = st.one_of(st.integers(-3, 3), st.floats(), st.just(10**400), st.booleans())
values = st.recursive(
    st.one_of(words, numbers, st.none()),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(words, inner, max_size=3)),
    max_leaves=8,
)
fields = st.sampled_from(["query", "query_id", "relevant", "ranked", "grades", "expected", "kind", "tenant", "id"])
rows = st.lists(st.dictionaries(fields, values, max_size=5), max_size=4)
shaped = st.lists(
    st.fixed_dictionaries(
        {"query_id": st.sampled_from(["q1", "q2", "q3"])},
        optional={"relevant": values, "ranked": values, "kind": values, "grades": values, "expected": values},
    ),
    max_size=4,
)
files = st.one_of(
    st.one_of(rows, shaped).map(lambda entries: "\n".join(map(json.dumps, entries)).encode()),
    st.dictionaries(words, values, max_size=4).map(lambda entry: json.dumps(entry).encode()),
    st.lists(st.lists(words, max_size=6).map(" ".join), max_size=4).map(
        lambda lines: "\n".join(lines).encode("utf-8", "surrogatepass")
    ),
    st.binary(max_size=40),
)
GOOD = b'{"q1": {"a": 1}, "q2": {"b": 2, "a": 0}}'


def scores(folder: Path, gold: bytes, run: bytes, keep_going: bool) -> str:
    (folder / "gold").write_bytes(gold)
    (folder / "run").write_bytes(run)
    read = read_gold(folder / "gold", keep_going=keep_going)
    answers = read_answers(folder / "run", read.cases, keep_going=keep_going)
    report = score_answers(read.cases, answers.answers, 3, depth=answers.depth, notes=answers.notes)
    for format in ("text", "markdown", "csv", "json"):
        report.table(format, by="kind").encode()  # type: ignore[arg-type]
    return report.table("text")


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(gold=st.one_of(files, st.just(GOOD)), run=st.one_of(files, st.just(GOOD)), keep_going=st.booleans())
def test_any_file_is_scored_or_refused(tmp_path: Path, gold: bytes, run: bytes, keep_going: bool) -> None:
    with contextlib.suppress(RecallBenchError):
        scores(tmp_path, gold, run, keep_going)


def test_the_good_file_is_scored(tmp_path: Path) -> None:
    assert "MEAN" in scores(tmp_path, GOOD, GOOD, False)


ids = st.sampled_from("abcdef")
queries = st.sampled_from(["q1", "q2", "q3"])


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    gold=st.dictionaries(queries, st.dictionaries(ids, st.integers(1, 3), min_size=1), min_size=1),
    ranked=st.dictionaries(queries, st.lists(ids, unique=True, min_size=1)),
)
def test_every_form_gives_the_same_means(tmp_path: Path, gold: dict[str, Any], ranked: dict[str, list[str]]) -> None:
    if not gold.keys() & ranked.keys():
        return
    golds = [
        json.dumps(gold),
        "\n".join(json.dumps({"query_id": q, "relevant": of}) for q, of in gold.items()),
        "\n".join(f"{q} 0 {id} {grade}" for q, of in gold.items() for id, grade in of.items()),
        "\n".join(f"{q}\t{id}\t{grade}" for q, of in gold.items() for id, grade in of.items()),
    ]
    runs = [
        json.dumps(ranked),
        json.dumps({q: {id: -n for n, id in enumerate(of)} for q, of in ranked.items()}),
        "\n".join(json.dumps({"query": q, "ranked": of}) for q, of in ranked.items()),
        "\n".join(f"{q} Q0 {id} {n} {9 - n} me" for q, of in ranked.items() for n, id in enumerate(of)),
    ]
    tables = {scores(tmp_path, gold.encode(), runs[0].encode(), False) for gold in golds}
    tables |= {scores(tmp_path, golds[0].encode(), run.encode(), False) for run in runs}
    assert len(tables) == 1


def test_a_huge_score_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RecallBenchError, match="a score is not a number"):
        scores(tmp_path, GOOD, f'{{"q1": {{"a": 1{"0" * 400}}}}}'.encode(), False)
