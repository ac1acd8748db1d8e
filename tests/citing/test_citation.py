"""The good path of a citation.

No canonical result can be made where the canonical weights are not to be had. So here the audit is what is given: real
results, made by the command line, are handed on with an audit that calls them CANONICAL. What such an audit must have
seen, tests/audit tells of the audit itself.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from commandline import recallbench
from recallbench.audit.audit import Audit
from recallbench.audit.decision import Verdict
from recallbench.audit.gate import Check
from recallbench.citing.citation import AuditedResult, NotCitable, cite, text
from recallbench.citing.citation_check import CheckedFigure, check
from recallbench.protocol.frozen import load
from recallbench.results.result import Result, open_result

MEMORY = """
def weak(items, vectors):
    words = {item.id: set(item.text.lower().split()[:3]) for item in items}
    return lambda query, k: _search(words, query, k)

def strong(items, vectors):
    words = {item.id: set(item.text.lower().split()) for item in items}
    return lambda query, k: _search(words, query, k)

def _search(words, query, k):
    asked = set(query.text.lower().split())
    return sorted(((id, float(len(asked & known))) for id, known in words.items()), key=lambda hit: -hit[1])[:k]

weak.needs_vectors = strong.needs_vectors = False
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("cited")
    (place / "memory.py").write_text(MEMORY)
    (place / ".git").mkdir()
    for name, call, more in (
        ("old", "weak", ()),
        ("new", "strong", ()),
        ("again", "strong", ()),
        ("few", "strong", ("9",)),
    ):
        words = ["--store", "callable", "--call", f"memory:{call}", "--folder", f"results/{name}", "-q"]
        words += ["--limit", *more] if more else []
        assert recallbench("run", "canary-longmemeval", *words, cwd=place).returncode == 0
    return place


def canonical(folder: Path) -> Audit:
    return Audit(folder, (), Verdict("VERIFIED", (), (), canonical=True), ())


def audited(place: Path, name: str) -> AuditedResult:
    """The result as if an audit had found it CANONICAL."""
    result = open_result(place / "results" / name)
    result = Result(result.folder, result.metrics.model_copy(update={"deviations": []}))
    return AuditedResult(result, canonical(result.folder))


def test_a_canonical_result_is_cited_under_the_protocol(place: Path) -> None:
    side = audited(place, "new")
    body = text(cite(side))
    lines = body.splitlines()
    assert lines[0].startswith(
        "pgmnemo Recall Benchmark Protocol v1.0.0 (benchmarks/PROTOCOL.md): corpus canary-longmemeval, "
    )
    assert "embedder no embedder" in lines[0]
    e = side.result.headline[0].estimate
    assert (
        f"- recall@10 (recall_any@10) {e.value:.4f}, 95% interval {e.low:.4f} to {e.high:.4f}, n = 47; callable "
        f"{side.result.version}; results/new, manifest sha256 {side.result.manifest_sha256}"
    ) in lines
    assert any(line.startswith("- MRR (mrr@50) ") for line in lines)
    assert "improvement" not in body
    assert "Deviations" not in body


def test_an_improvement_needs_its_interval_above_zero(place: Path) -> None:
    up = cite(audited(place, "new"), audited(place, "old"))
    (recall, _) = up.moved
    assert recall.paired is not None
    assert recall.paired.low is not None
    assert recall.paired.low > 0
    assert ": improvement; results/old -> results/new" in text(up)
    down = text(cite(audited(place, "old"), audited(place, "new")))
    assert ": lower; results/new -> results/old" in down
    assert "improvement" not in down
    same = text(cite(audited(place, "again"), audited(place, "new")))
    assert same.count(": no difference shown; ") == 2
    assert "improvement" not in same


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"protocol": {"clarifications_sha256": "0" * 64}}, "another clarifications"),
        ({"protocol": {"clarifications": [1]}}, "another clarifications that were applied"),
        ({"protocol": {"sha256": "0" * 64}}, "another protocol"),
        ({"dataset_sha256": "0" * 64}, "another dataset"),
        ({"retrieval": {"scope": "pooled"}}, "another scope"),
        ({"retrieval": {"depth": 25}}, "another depth"),
        ({"store": {"name": "exact"}}, "another store"),
    ],
)
def test_a_previous_result_follows_the_same_definition(place: Path, change: dict, reason: str) -> None:
    old = audited(place, "old")
    metrics = old.result.metrics
    update = {
        name: getattr(metrics, name).model_copy(update=value) if isinstance(value, dict) else value
        for name, value in change.items()
    }
    other = replace(old, result=Result(old.result.folder, metrics.model_copy(update=update)))
    with pytest.raises(NotCitable) as refused:
        cite(audited(place, "new"), other)
    assert [text for text in refused.value.reasons if text.startswith(f"previous result: {reason}: ")]


def test_a_previous_result_may_be_of_before_a_clarification_that_changes_no_figure(place: Path) -> None:
    old = audited(place, "old")
    metrics, rules = old.result.metrics, load()
    before = {
        "clarifications_sha256": rules.earlier_clarifications[-1],
        "clarifications": metrics.protocol.clarifications,
    }
    update = {"protocol": metrics.protocol.model_copy(update=before)}
    earlier = replace(old, result=Result(old.result.folder, metrics.model_copy(update=update)))
    assert ": improvement; results/old -> results/new" in text(cite(audited(place, "new"), earlier))


def test_a_previous_result_is_citable_itself(place: Path) -> None:
    old = audited(place, "old")
    lame = replace(old, audit=Audit(old.result.folder, (), Verdict("VERIFIED", (), (), canonical=False), ("limit: x",)))
    with pytest.raises(NotCitable) as refused:
        cite(audited(place, "new"), lame)
    assert "previous result: deviation limit: x" in refused.value.reasons
    with pytest.raises(NotCitable, match="can't be cited"):
        cite(audited(place, "new"), audited(place, "new"))
    with pytest.raises(NotCitable) as refused:
        cite(audited(place, "new"), audited(place, "few"))
    assert any("another questions asked: 9 before, 47 now" in text for text in refused.value.reasons)


def test_every_failed_check_is_a_reason(place: Path) -> None:
    failed = Check("gold", "fail", "r", "q7 has other gold", code="RB-GOLD")
    unsure = Check("dataset", "cannot-tell", "r", "not here", code="RB-DATASET")
    minor = Check("extra", "cannot-tell", "r", "whatever", code="RB-X", needed=False)
    side = audited(place, "new")
    bad = Audit(side.result.folder, (failed, unsure, minor), Verdict("UNVERIFIED", (), ("gold",), canonical=False), ())
    with pytest.raises(NotCitable) as refused:
        cite(replace(side, audit=bad))
    assert refused.value.exit_code == 1
    assert refused.value.reasons[:2] == ("gold (RB-GOLD): q7 has other gold", "dataset (RB-DATASET): not here")
    assert not any("RB-X" in reason for reason in refused.value.reasons)


def test_longmemeval_tells_the_substitution(place: Path) -> None:
    side = audited(place, "new")
    metrics = side.result.metrics
    corpus = metrics.corpus.model_copy(update={"name": "longmemeval"})
    other = replace(side, result=Result(side.result.folder, metrics.model_copy(update={"corpus": corpus})))
    body = text(cite(other))
    assert "BAAI/bge-m3 stands in for the paper's embedder, NovaSearch/stella_en_1.5B_v5" in body


def problems(place: Path, body: str) -> list[CheckedFigure]:
    (place / "note.md").write_text(body)
    return [figure for figure in check(place / "note.md", canonical) if figure.problems]


def test_a_canonical_citation_holds_where_it_is_pasted(place: Path) -> None:
    for markdown in (False, True):
        assert problems(place, text(cite(audited(place, "new")), markdown)) == []
        problems(place, text(cite(audited(place, "new"), audited(place, "old")), markdown))
        figures = check(place / "note.md", canonical)
        # Both metrics of both results; the lines of their differences name two folders each.
        assert [figure.state for figure in figures if figure.state != "not checkable"] == ["right"] * 4
    body = text(cite(audited(place, "new")))
    assert problems(place, body.replace("v1.0.0", "v2.0.0").replace("1.0.0", "2.0.0"))


def test_a_version_adds_no_line(place: Path) -> None:
    side = audited(place, "new")
    store = side.result.metrics.store.model_copy(update={"version": "9.9\n- recall@10 0.99\x1b[2J (x)"})
    metrics = side.result.metrics.model_copy(update={"store": store})
    body = text(cite(AuditedResult(Result(side.result.folder, metrics), side.audit)))
    assert len(body.splitlines()) == len(text(cite(side)).splitlines())
    assert "\x1b" not in body


def test_an_interval_that_is_too_short_says_so_in_a_citation_too(place: Path) -> None:
    result = open_result(place / "results" / "new")
    assert "too short" not in text(cite(AuditedResult(result, canonical(result.folder))))
    first = result.headline[0]
    sure = first.estimate.model_copy(update={"value": 0.97, "low": 0.95, "high": 0.98, "design_effect": 5.1})
    headline = [first.model_copy(update={"estimate": sure}), *result.headline[1:]]
    other = Result(result.folder, result.metrics.model_copy(update={"headline": headline}))
    assert "0.9700, 95% interval 0.9500 to 0.9800, *too short*, n = 47" in text(
        cite(AuditedResult(other, canonical(result.folder)))
    )
