"""What a text has to tell of a result, and what forbids citing it."""

from __future__ import annotations

from pathlib import Path

from recallbench.audit.audit import Audit
from recallbench.audit.decision import Verdict
from recallbench.audit.gate import Check
from recallbench.citing.citation_check import CheckedFigure, check

ROOT = Path(__file__).resolve().parents[2]
R = "results/r"


def checked(bm25_result: Path, body: str, *, canonical: bool = False) -> tuple[CheckedFigure, ...]:
    deviations = () if canonical else ("store: bm25 instead of pgmnemo",)
    note = bm25_result.parent.parent / "note.md"
    note.write_text(body)
    return check(note, lambda folder: Audit(folder, (), Verdict("VERIFIED", (), (), canonical), deviations))


def test_deviations_have_to_be_stated(bm25_result: Path) -> None:
    (figure,) = checked(bm25_result, f"recall@10 0.8354 ({R})")
    assert (figure.state, len(figure.problems), figure.fails) == ("right but undisclosed", 2, True)
    assert "does not tell its deviations" in figure.problems[0]
    assert figure.problems[1] == "the text does not name the corpus: canary-locomo"
    for words in ("No deviations.", "It does not deviate.", "Without any deviation.", "It departs in nothing."):
        assert any(figure.problems for figure in checked(bm25_result, f"{words} recall@10 0.8354 ({R})"))
    # Those under another heading are not of this figure.
    body = f"# A\n\nDeviations: store.\n\n# B\n\nrecall@10 0.8354 ({R})"
    assert any(figure.problems for figure in checked(bm25_result, body))


def test_a_text_may_explain_the_protocol_where_it_disclaims_it(bm25_result: Path) -> None:
    head = "The pgmnemo Recall Benchmark Protocol calls some results CANONICAL. {}\n\n"
    body = f"{head}recall@10 0.8354 ({R}), canary-locomo"
    assert [figure.state for figure in checked(bm25_result, body.format("None of these is."))] == ["right"]
    assert [figure.state for figure in checked(bm25_result, body.format("They depart in the store."))] == ["wrong"]
    said = (
        f"None of these is CANONICAL. pgmnemo Recall Benchmark Protocol v1.0.0: recall@10 0.8354 on canary-locomo ({R})"
    )
    (figure,) = checked(bm25_result, said)
    assert "is cited under the protocol's name" in figure.problems[0]


def test_every_fault_of_a_figure_is_said(bm25_result: Path) -> None:
    (figure,) = checked(
        bm25_result, f"recall@10 0.8454, 95% interval 0.7 to 0.9, n = 1982, without any deviation ({R})"
    )
    assert figure.state == "wrong"
    assert figure.problems == (
        "r has 0.8354",
        "the interval 0.7 to 0.9: the folder has 0.7598 to 0.8877",
        "n = 1982: the folder has 158",
        "r is not CANONICAL, and the text does not tell its deviations: store: bm25 instead of pgmnemo",
        "the text does not name the corpus: canary-locomo",
    )


def test_what_the_audit_says_weighs_in(bm25_result: Path) -> None:
    note = bm25_result.parent.parent / "note.md"
    note.write_text(f"On canary-locomo, with deviations: recall@10 0.8354 ({R})")

    def state(*checks: Check) -> tuple[str, bool]:
        verdict = Verdict("UNVERIFIED", (), (), canonical=False)
        (figure,) = check(note, lambda folder: Audit(folder, checks, verdict, ("store: bm25",)))
        return figure.state, figure.fails

    failed = Check("gold", "fail", "r", "q7 has other gold", code="RB-GOLD")
    unknown = Check("dataset", "cannot-tell", "r", "not here", code="RB-DATASET")
    pending = Check("artefacts present", "pending", "r", "not committed", code="RB-COMMITTED")
    assert state(pending) == ("right but undisclosed", True)
    assert state(unknown, pending) == ("not checkable", True)
    assert state(failed, unknown, pending) == ("wrong", True)


def test_a_canonical_figure_names_the_version_of_the_protocol(bm25_result: Path) -> None:
    (figure,) = checked(bm25_result, f"recall@10 0.8354 on canary-locomo ({R})", canonical=True)
    assert "names no version of the protocol" in figure.problems[0]
    (figure,) = checked(bm25_result, f"Protocol v1.0.0: recall@10 0.8354 on canary-locomo ({R})", canonical=True)
    assert not figure.problems


def test_the_encoder_is_named_by_its_name_or_its_repository(tmp_path: Path) -> None:
    (tmp_path / "benchmarks").symlink_to(ROOT / "benchmarks")

    def problems(words: str) -> list[tuple[str, tuple[str, ...]]]:
        (tmp_path / "note.md").write_text(
            f"# Words\n\n{words}\n\n## A deviation\n\nrecall@10 0.9743 (benchmarks/locomo/results/pgvector_20261118)\n"
        )
        audit = Audit(
            tmp_path, (), Verdict("VERIFIED", (), (), canonical=False), ("store: pgvector instead of pgmnemo",)
        )
        return [(one.state, one.problems) for one in check(tmp_path / "note.md", lambda folder: audit)]

    assert problems("Vectors are dragon's.") == [
        ("right but undisclosed", ("the text does not name the embedder: minilm",))
    ]
    assert problems("Vectors are MiniLM's.") == [("right", ())]
    assert problems("sentence-transformers/all-MiniLM-L6-v2") == [("right", ())]
    assert problems("all-MiniLM-L6-v2") == [("right", ())]
