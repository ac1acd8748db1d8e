"""How a table of systems ends."""

from __future__ import annotations

from recallbench.reports.standings import ApartPart, StandingPart, Standings, conclusion, reading, sheet, table
from recallbench.results.metrics import EstimatePart


def standing(name: str, value: float, letters: str) -> StandingPart:
    estimate = EstimatePart.model_construct(value=value, low=value - 0.05, high=value + 0.05, n=1200)
    return StandingPart.model_construct(name=name, letters=letters, estimates=[estimate])


def told(*standings: StandingPart, apart: int = 0) -> str:
    figures = [EstimatePart.model_construct(value=0.5)]
    others = [ApartPart.model_construct(name=f"x{n}", estimates=figures) for n in range(apart)]
    document = Standings.model_construct(measures=["recall_any@10"], standings=list(standings), apart=others)
    return str(conclusion(document))


def test_one_system_alone_says_nothing_of_another() -> None:
    assert told(standing("a", 0.8, "a")) == (
        "a: recall_any@10 0.8000 (0.7500 to 0.8500), 1,200 questions; one system alone says nothing of another; "
        "next: name a second one"
    )
    assert told(standing("a", 0.8, "a"), apart=2) == (
        "a stands alone: recall_any@10 0.8000 (0.7500 to 0.8500), 1,200 questions; 2 not comparable; "
        "next: measure all on the same questions"
    )


def test_the_first_one_is_named_where_it_is_told_apart() -> None:
    assert told(standing("a", 0.8, "a"), standing("b", 0.6, "b"), standing("c", 0.6, "b")) == (
        "a is first: recall_any@10 0.8000 (0.7500 to 0.8500), 1,200 questions; "
        "paired tests tell it apart from all 2 others"
    )
    assert told(standing("a", 0.8, "a"), standing("b", 0.6, "b")).endswith("; a paired test tells it apart from b")


def test_those_that_share_a_letter_with_the_first_are_named_with_it() -> None:
    assert told(standing("a", 0.8, "a"), standing("b", 0.7, "ab"), standing("c", 0.6, "b")) == (
        "a and b are first, not told apart: recall_any@10 0.8000 (0.7500 to 0.8500), 1,200 questions; paired tests "
        "tell c apart from the first"
    )


def test_nobody_is_first_where_nobody_is_told_apart() -> None:
    many = [standing(name, 0.8, "a") for name in "abcde"]
    assert told(*many, apart=1) == (
        "Nobody is first: 5 systems can't be told apart by recall_any@10; each has 0.8000 "
        "(0.7500 to 0.8500), 1,200 questions; 1 not comparable; next: ask more questions"
    )
    alike = "Nobody is first: a and b can't be told apart by recall_any@10; "
    number = "have 0.8000 (0.7500 to 0.8500), 1,200 questions; next: ask more questions"
    assert told(standing("a", 0.8, "a"), standing("b", 0.8, "a")) == f"{alike}both {number}"
    assert told(standing("a", 0.8, "a"), standing("b", 0.7, "a")).startswith(f"{alike}the highest has 0.8000 ")


def test_the_line_stays_short() -> None:
    """Names of twenty characters, and results that can't be compared."""
    first, *others = (standing(f"results/long-name-{n:02}", 0.8 - n / 10, "a" if n < 2 else "b") for n in range(4))
    apart = [standing(each.name, 0.7, letter) for each, letter in zip(others, "bcd", strict=True)]
    lines = [told(first, *others[:1]), told(first, *others), told(first, *apart), told(first, apart=2)]
    lines += [told(first, *others, apart=2), told(first, *apart[:1], apart=2)]
    assert [line for line in lines if len(line) > 220] == []


def judged(store: str, verdict: str, *, labelled: bool) -> StandingPart:
    estimate = EstimatePart.model_construct(value=0.8, low=0.75, high=0.85, n=1200, design_effect=None)
    return StandingPart.model_construct(
        name=store, system=store, version="1", embedder="none", verdict=verdict, labelled=labelled, letters="a",
        estimates=[estimate], p95_ms=None, build_s=None, settings={}, note="",
    )  # fmt: skip


def shown(*standings: StandingPart) -> tuple[list[str], list[str], str]:
    """Return the last cells of the table, what is said below it, and the first column of verdicts in the sheet."""
    document = Standings.model_construct(
        measures=["recall_any@10"], standings=list(standings), controls=[], tests=1, notes=[], units=[], apart=[]
    )
    rows = table(document)
    last = [row[-1] for row in rows.rows] if rows.columns[-1] == "verdict" else []
    told_of = [line for line in reading(document) if line.startswith("Verdict")]
    return last, told_of, ",".join(row[-1] for row in sheet(document).rows)


def test_a_verdict_is_told_of_what_the_protocol_speaks_of() -> None:
    known, own = judged("bm25", "VERIFIED", labelled=True), judged("mine", "UNVERIFIED", labelled=False)
    assert shown(known, known) == ([], ["Verdict when written: VERIFIED."], "VERIFIED,VERIFIED")
    assert shown(own, own) == ([], [], ",")
    assert shown(known, own) == ([], [], ",")
    other = judged("exact", "UNVERIFIED", labelled=True)
    assert shown(known, other) == (["VERIFIED", "UNVERIFIED"], [], "VERIFIED,UNVERIFIED")
    assert "labelled" not in own.model_dump()
    assert own.model_dump()["verdict"] == "UNVERIFIED"
