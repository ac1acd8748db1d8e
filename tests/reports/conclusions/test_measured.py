"""The last line of a measurement, over a small result in which one thing at a time is made otherwise."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from recallbench.reports.conclusions.labels import mattering, may_be_labelled, of_protocol
from recallbench.reports.conclusions.measured import Measured, conclude_measured, conclude_several
from recallbench.reports.conclusions.names import listed
from recallbench.reports.conclusions.rows import headline_sheet, result_document
from recallbench.reports.printing.conclusion import Conclusion
from recallbench.results.metrics import OVERALL, DeviationPart, Metrics

GOLDEN = Path(__file__).parents[2] / "golden" / "results"
EXACT = Metrics.model_validate_json((GOLDEN / "canary_exact" / "metrics.json").read_bytes())
FOUND = "exact finds a right session among the first 10 for 62.5% of 158 questions (recall_any@10 0.6250, 0.5500 to "
UNTOUCHED = "nothing in the run speaks against it"
NEXT = "; next: open r/report.html"
LONGEST = 220
"""Characters of a last line."""


def metrics(name: str = "recall_any@10", of: Metrics = EXACT, **changed: Any) -> Metrics:
    """Return the result without deviations, with 158 questions, and with these fields of its leading estimate."""
    fields = {"value": 0.625, "low": 0.55, "high": 0.69, "n": 158, "chance": 0.45, "saturated": 0.0, **changed}
    overall = [
        estimate.model_copy(update=fields) if estimate.measure == name else estimate
        for estimate in of.estimates[OVERALL]
    ]
    return of.model_copy(update={"estimates": {**of.estimates, OVERALL: overall}, "deviations": []})


def line(measured: Metrics, **known: Any) -> tuple[str, str]:
    concluded = conclude_measured(Measured(measured, Path("r"), **known))
    text = str(concluded)
    assert len(text) <= LONGEST
    assert text.endswith(NEXT)
    return text.removesuffix(NEXT), concluded.tone


def doubt(measured: Metrics, **known: Any) -> tuple[str, str]:
    """Return what is said behind the figures."""
    text, tone = line(measured, **known)
    return text.partition("(recall_any@10 ")[2].partition("); ")[2] or text.partition("; ")[2], tone


def test_a_run_in_which_all_went_right() -> None:
    assert line(metrics()) == (f"{FOUND}0.6900; BM25 0.8750); {UNTOUCHED}", "good")


@pytest.mark.parametrize(
    ("changed", "said", "tone"),
    [
        ({"low": 0.44}, "that is no more than chance would find", "open"),
        ({"value": 0.4, "low": None}, "that is no more than chance would find", "bad"),
        ({"n": 29}, "29 questions are too few to rely on", "open"),
        ({"n": 1, "low": None, "high": None}, "1 question is too few to rely on", "open"),
        ({"low": 0.5, "high": 0.71}, "the interval is too wide to rely on", "open"),
        ({"saturated": 0.3}, "for 30.0% of them any order would do", "open"),
        (
            {"saturated": 1.0},
            "any order would: so few are there; MRR tells more: 0.1157 against 0.2206 by chance",
            "open",
        ),
        ({"value": 0.97, "design_effect": 6.0}, "its interval is too short: few conversations decide", "open"),
    ],
)
def test_what_the_figure_itself_leaves_open(changed: dict[str, Any], said: str, tone: str) -> None:
    assert doubt(metrics(**changed)) == (said, tone)


def test_what_the_run_leaves_open() -> None:
    limited = DeviationPart(kind="limit", detail="only the first 9 questions were asked")
    other = DeviationPart(kind="store", detail="exact instead of pgmnemo")
    whole = metrics()
    assert doubt(whole.model_copy(update={"deviations": [other]})) == (UNTOUCHED, "good")
    assert doubt(whole.model_copy(update={"deviations": [other, limited]})) == (limited.detail, "open")
    assert doubt(whole, busy=True) == ("the machine was busy, so its times tell little", "open")
    assert doubt(whole, busy=True, busy_counts=True) == ("the machine was not quiet, as it was asked to be", "bad")
    assert doubt(whole, stale="the canary is stale", busy=True) == ("the canary is stale", "open")
    assert doubt(whole, untimed=1) == ("1 question failed when timed", "bad")
    short = whole.model_copy(
        update={"retrieval": whole.retrieval.model_copy(update={"short_questions": 3, "missing_hits": 9})}
    )
    assert doubt(short) == ("3 questions got fewer hits than there were to get", "open")
    failed = short.model_copy(update={"retrieval": whole.retrieval.model_copy(update={"failed": ["a", "b"]})})
    assert doubt(failed, busy=True, untimed=2) == ("2 questions that failed count as the worst answer", "bad")


def test_a_gate_that_fails_is_named_and_an_audit_says_why() -> None:
    observed = "exact states 1, pgmnemo_version is null, --version 2"
    gates = [
        gate.model_copy(update={"status": "fail", "observed": observed}) if gate.name == "version pin" else gate
        for gate in EXACT.gates
    ]
    concluded = conclude_measured(Measured(metrics().model_copy(update={"gates": gates}), Path("r")))
    said = "the protocol's gate on version pin fails"
    assert (concluded.belief, concluded.next, concluded.tone) == (said, "recallbench audit r", "bad")


def test_a_corpus_with_nothing_to_find() -> None:
    assert line(metrics(value=None, n=0))[0] == f"exact was asked nothing that has anything to find; {UNTOUCHED}"


def named(store: str, corpus: str = "canary-locomo", **changed: Any) -> Measured:
    own = metrics(**changed)
    return Measured(
        own.model_copy(
            update={
                "store": own.store.model_copy(update={"name": store}),
                "corpus": own.corpus.model_copy(update={"name": corpus}),
            }
        ),
        Path(f"my {store}") if store == "c" else Path(f"{store}_{corpus}"),
    )


def test_several_stores_end_with_who_is_first_and_what_shows_them() -> None:
    a, b, c = named("a", value=0.6), named("b", value=0.7, high=0.75), named("c")
    first = Conclusion("b is first: recall_any@10 0.7000", "a paired test tells it apart from a")
    told = conclude_several([a, b, c], ranked=first)
    assert (str(told), told.tone) == (
        "b is first: recall_any@10 0.7000; a paired test tells it apart from a; next: recallbench table "
        "a_canary-locomo b_canary-locomo 'my c'",
        "good",
    )
    doubtful = conclude_several([a, named("b", value=0.7, low=0.4, high=0.9)], ranked=first)
    assert (doubtful.belief, doubtful.tone) == (
        "b: that is no more than chance would find",
        "open",
    )
    failed = conclude_several([a, b], ["mine on canary-locomo"], first)
    assert (failed.belief, failed.tone) == (
        "1 of 3 runs failed",
        "bad",
    )


def test_several_stores_of_which_none_is_first_end_without_praise() -> None:
    a, b = named("a", value=0.6), named("b", value=0.6)
    nobody = Conclusion("Nobody is first: a and b can't be told apart by recall_any@10", "", "ask more", "open")
    told = conclude_several([a, b], ranked=nobody)
    assert (str(told), told.tone) == (
        "Nobody is first: a and b can't be told apart by recall_any@10; next: recallbench table a_canary-locomo "
        "b_canary-locomo",
        "open",
    )
    doubtful = conclude_several([a, named("b", value=0.4, low=None)], ranked=nobody)
    assert (doubtful.belief, doubtful.tone) == ("b: that is no more than chance would find", "bad")


def test_what_is_left_of_several_where_others_failed() -> None:
    a = named("a", value=0.6)
    alone = conclude_several([a], ["mine on canary-locomo"])
    assert str(alone).startswith("a finds a right session among the first 10 for 60.0% of 158 questions (")
    assert (alone.belief, alone.next) == (
        "1 of 2 runs failed",
        "open a_canary-locomo/report.html",
    )
    assert str(conclude_several([], ["x", "y"])) == "All 2 runs failed, each with the reason above"


def test_several_corpora_end_with_each() -> None:
    results = [named("a"), named("a", "realtalk", value=0.9, high=0.95, low=0.8, n=20)]
    assert str(conclude_several(results)) == (
        "a finds a right hit for 62.5% of 158 questions on canary-locomo, 90.0% of 20 on realtalk; realtalk: 20 "
        "questions are too few to rely on; next: open a_canary-locomo/report.html"
    )
    both = conclude_several([*results, named("b", "realtalk", value=None)])
    assert both.happened == (
        "The stores find a right hit for 62.5% of 158 questions on canary-locomo by a, 90.0% of 20 on realtalk by a "
        "and 1 more"
    )


def test_a_document_is_found_in_a_set_of_ones_own() -> None:
    own = Metrics.model_validate_json((GOLDEN / "team_exact" / "metrics.json").read_bytes())
    concluded = conclude_measured(Measured(metrics(of=own), Path("r")))
    assert concluded.happened.startswith("exact finds a right document among the first 10 for 62.5% of 158 questions")


def test_a_turn_is_found_where_turns_are_what_is_remembered() -> None:
    assert " finds a right turn among the first 10 " in str(conclude_measured(named("a", "realtalk-turns")))
    assert " finds a right session among the first 10 " in str(conclude_measured(named("a", "realtalk")))


def test_under_the_protocol_the_next_step_is_an_audit() -> None:
    own = named("pgmnemo", "locomo")
    assert str(conclude_measured(own)).endswith(
        f"; {UNTOUCHED}; next: commit it, then recallbench audit pgmnemo_locomo"
    )
    assert conclude_measured(named("pgvector", "locomo")).next == "open pgvector_locomo/report.html"


@pytest.mark.parametrize("changed", [{}, {"saturated": 1.0}, {"low": 0.5, "high": 0.71}, {"saturated": 0.3}])
def test_the_line_stays_short(changed: dict[str, Any]) -> None:
    """The longest names of a store and a corpus, over many questions."""
    store, corpora = "python:mine:MyMemory", ("canary-longmemeval", "longmemeval-s-cleaned"[:20])
    results = [named(store, corpus, n=1982, **changed) for corpus in corpora]
    lines = [
        str(conclude_measured(replace(results[0], folder=Path("r/mine")))),
        str(conclude_several([replace(each, folder=Path("r/mine")) for each in results])),
    ]
    assert [line for line in lines if len(line) > LONGEST] == []


def test_the_line_over_several_stores_stays_short() -> None:
    results = [named(f"python:mine:Memory{n:02}") for n in range(3)]
    results = [replace(each, folder=Path(f"r/mine{n}")) for n, each in enumerate(results)]
    figures = "recall_any@10 0.8354 (0.7598 to 0.8877), 1,982 questions"
    first, second, _ = (each.metrics.store.name for each in results)
    for ranked in (
        Conclusion(f"{first} is first: {figures}", "paired tests tell it apart from all 2 others"),
        Conclusion(
            f"{first} and {second} are first, not told apart: {figures}", "paired tests tell c apart", "", "open"
        ),
    ):
        for failed in ([], ["another on canary-longmemeval"]):
            assert len(str(conclude_several(results, failed, ranked))) <= LONGEST


def test_who_is_told_the_labels() -> None:
    assert [of_protocol("locomo", store) for store in ("pgmnemo", "pgvector")] == [True, False]
    assert not of_protocol("canary-locomo", "pgmnemo")
    assert may_be_labelled("longmemeval", "pgvector")
    for corpus, store in (
        ("locomo", "python:mine:Memory"),
        ("locomo", "http://127.0.0.1:1/"),
        ("locomo", "callable"),
        ("locomo", "nothing of this name"),
        ("canary-locomo", "pgmnemo"),
        ("realtalk", "pgvector"),
        ("locomo", "bm25"),
        ("longmemeval", "exact"),
        ("labelled/kb@" + "0" * 64, "bm25"),
    ):
        assert not may_be_labelled(corpus, store), (corpus, store)


def test_what_matters_of_the_deviations() -> None:
    kinds = ("corpus", "store", "embedder", "settings", "pipeline", "depth", "limit", "scope", "time", "dataset")
    assert mattering([DeviationPart(kind=kind, detail=kind) for kind in kinds]) == ["limit", "scope", "time", "dataset"]


def test_a_few_names() -> None:
    assert [listed(list(names)) for names in ("", "ab", "abcde")] == ["", "a, b", "a, b, c and 2 more"]


def test_rows_and_document_have_the_headline() -> None:
    measured = Measured(EXACT, Path("r"), busy=True)
    assert headline_sheet([measured]).csv().splitlines()[:2] == [
        "folder,corpus,store,measure,value,low,high,n,chance,BM25,saturated",
        "r,canary-locomo,exact,recall_any@10,0.6250,,,8,0.6076,0.8750,0.0000",
    ]
    told = result_document(measured)
    assert (told["folder"], told["corpus"], told["busy"], told["verdict"]) == (
        "r",
        "canary-locomo",
        True,
        "UNVERIFIED (pending: committed)",
    )
    assert told["headline"][0]["measure"] == "recall_any@10"
    assert told["headline"][0]["bm25"] == 0.875
