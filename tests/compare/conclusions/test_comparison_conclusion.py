"""What a comparison ends with, to the letter: each way in which two results may stand to each other."""

from __future__ import annotations

from recallbench.compare.conclusions.comparison import conclude_comparison
from recallbench.reports.comparison import Comparison, ConditionPart, MeasuredPart, SidePart, UnlikePart

AGAIN = "recallbench compare a b"


def side(name: str, *, altered: bool = False, store: str = "bm25") -> SidePart:
    return SidePart(
        name=name, store=store, version="1", embedder="none", verdict="", canonical=False, content_sha256="",
        altered=altered,
    )  # fmt: skip


def measured(measure: str, difference: float, **more: object) -> MeasuredPart:
    """Return a measure over 1982 questions of which 300 differ; by default its p is .001 before and .002 after Holm."""
    part = {
        "measure": measure, "difference": difference, "low": difference - 0.03, "high": difference + 0.03,
        "method": "95% by 1,024 sign flips", "p": 0.001, "p_holm": 0.002, "smallest_p": 0.001, "test": "sign flips",
        "n": 1982, "clusters": 1982, "wins": 200, "ties": 1682, "losses": 100, "detectable": 0.04, "least": None,
        "most": None, "first": 0.5, "second": 0.5 + difference, "role": "primary", "turning": [],
    }  # fmt: skip
    return MeasuredPart.model_validate(part | more)


def comparison(*measures: MeasuredPart, **more: object) -> Comparison:
    part = {
        "schema_version": "1", "recallbench_version": "0", "first": side("a"), "second": side("b"), "basis": [],
        "unlike": [], "n": 1982, "clusters": None, "identical": False, "measures": list(measures), "kinds": {},
        "changed": [], "conditions": [], "warnings": [], "notes": [],
        "regressions": [
            part.measure for part in measures if part.difference < 0 and part.p_holm is not None and part.p_holm <= 0.05
        ],
    }  # fmt: skip
    return Comparison.model_validate(part | more)


def concluded(*measures: MeasuredPart, strict: bool = False, fail: bool = False, **more: object) -> tuple[str, str]:
    conclusion = conclude_comparison(comparison(*measures, **more), AGAIN, strict=strict, fail_on_regression=fail)
    return str(conclusion), conclusion.tone


RECALL, MRR = "recall_any@10", "mrr@50"
OPEN = {"p": 0.4, "p_holm": 0.8}


def test_one_finds_more() -> None:
    assert concluded(measured(RECALL, 0.146)) == (
        "B finds more: recall_any@10 +0.1460 (+0.1160 to +0.1760), 1982 questions, p 0.0020 (Holm); "
        "p and interval agree; next: recallbench gate b --init",
        "good",
    )
    # An uncorrected p is called a p alone.
    line, _ = concluded(measured(RECALL, 0.146, p_holm=0.001))
    assert ", p 0.0010; p and interval agree;" in line


def test_it_finds_more_and_ranks_it_higher() -> None:
    line, tone = concluded(measured(RECALL, 0.1), measured(MRR, 0.2))
    assert line.startswith(
        "B finds more and ranks it higher: recall_any@10 +0.1000 (+0.0700 to +0.1300), 1982 questions, "
        "p 0.0020 (Holm) and mrr@50 +0.2000, p 0.0020; p and interval agree; next: "
    )
    assert tone == "good"


def test_it_only_ranks_what_it_finds_higher() -> None:
    line, tone = concluded(measured(RECALL, 0.001, **OPEN), measured(MRR, 0.2))
    assert line == (
        "B ranks the answers higher: mrr@50 +0.2000 (+0.1700 to +0.2300), 1982 questions, p 0.0020 (Holm), and "
        "recall_any@10 can't be told apart; mrr@50: p and interval agree; next: recallbench gate b --init"
    )
    assert tone == "open"


def test_it_finds_less() -> None:
    less = measured(RECALL, -0.05)
    assert concluded(less) == (
        "B finds less: recall_any@10 -0.0500 (-0.0800 to -0.0200), 1982 questions, p 0.0020 (Holm); "
        "p and interval agree; next: recallbench compare a b --show 10",
        "bad",
    )
    assert concluded(less, fail=True) == concluded(less)


def test_the_two_may_disagree() -> None:
    line, tone = concluded(measured(RECALL, 0.05), measured(MRR, -0.05))
    assert line.startswith("B finds more but ranks it lower: recall_any@10 +0.0500 (")
    assert tone == "open"


def test_nothing_differs() -> None:
    same = measured(RECALL, 0, wins=0, losses=0, p=1, p_holm=1, low=None, high=None)
    assert concluded(same, identical=True) == (
        "A and B give the same rankings, place for place: 1982 questions", "good",
    )  # fmt: skip
    other = UnlikePart(what="store", first="bm25", second="exact")
    assert concluded(same, identical=True, unlike=[other])[0].endswith("; though they differ in store")
    assert concluded(same) == (
        "No question scores otherwise in B by recall_any@10, though some rankings differ: 1982 questions", "good",
    )  # fmt: skip


def test_they_cannot_be_told_apart() -> None:
    assert concluded(measured(RECALL, 0.001, **OPEN)) == (
        "A and B can't be told apart: recall_any@10 +0.0010 (-0.0290 to +0.0310), 1982 questions, p 0.8000 (Holm); "
        "a difference of 0.0400 would be found four times in five; "
        "next: ask more questions",
        "open",
    )
    few = measured(RECALL, 0.1, p=0.125, p_holm=0.25, smallest_p=0.125, low=None, high=None, least=0, detectable=None)
    line, _ = concluded(few, clusters=4)
    assert line == (
        "A and B can't be told apart: recall_any@10 +0.1000, 1982 questions; so few clusters differ that no difference "
        "could be shown; next: measure more clusters"
    )
    line, _ = concluded(measured(RECALL, 0.001, least=-0.1, most=0.1, **OPEN), clusters=40)
    assert line.endswith("; next: measure more clusters")
    both = concluded(measured(RECALL, 0.001, **OPEN), measured(MRR, 0.001, **OPEN))[0]
    assert both.startswith(f"A and B can't be told apart: {RECALL} +0.0010 (-0.0290 to +0.0310), 1982 questions, p ")
    assert ", p 0.8000 (Holm), nor by mrr@50; a difference of " in both


def test_where_interval_and_p_disagree_the_line_says_which_decides_and_why() -> None:
    def why(*measures: MeasuredPart) -> str:
        return concluded(*measures)[0]

    apart = {"low": 0.01, "high": 0.2}
    two = (measured(RECALL, 0.1, p=0.03, p_holm=0.06, **apart), measured(MRR, 0, wins=0, losses=0, p=1, p_holm=1))
    line = why(*two)
    assert line.startswith("A and B can't be told apart: recall_any@10 +0.1000 (+0.0100 to +0.2000), ")
    assert "; the interval excludes 0, yet p decides: it is corrected for 2 tests;" in line
    other = why(measured(RECALL, 0.1), measured(MRR, 0.1, p=0.03, p_holm=0.06, **apart))
    assert "; mrr@50: the interval excludes 0, yet p decides: it is corrected for 2 tests;" in other
    assert "the interval excludes 0, yet p decides: so few questions differ that the least p is 0.0625;" in why(
        measured(RECALL, 0.1, p=0.0625, p_holm=0.0625, smallest_p=0.0625, **apart)
    )
    few = (measured(RECALL, 0.1, p=0.03, p_holm=0.06, smallest_p=0.03, **apart), two[1])
    assert "yet p decides: so few questions differ that the least p is 0.0600;" in why(*few)
    assert "the interval excludes 0, yet p decides: it presumes no distribution;" in why(
        measured(RECALL, 0.1, p=0.06, p_holm=0.06, **apart)
    )
    # And the other way round.
    over = why(measured(RECALL, 0.1, low=-0.01, high=0.2))
    assert over.startswith("B finds more: ")
    assert "the interval includes 0, yet p decides: it presumes no distribution;" in over
    assert "p decides: there is no interval;" in why(measured(RECALL, 0.1, low=None, high=None))


def test_one_cluster_that_decides_is_named() -> None:
    line, _ = concluded(measured(RECALL, 0.1, turning=["conv-3"]))
    assert "; p and interval agree, but without conv-3 the sign would turn; " in line


def test_secondary_measures_alone_are_a_hint() -> None:
    line, tone = concluded(measured("ndcg@10", 0.1, role="secondary", p_holm=None))
    assert line == (
        "B scores higher: ndcg@10 +0.1000 (+0.0700 to +0.1300), 1982 questions, p 0.0010; a hint, no finding: that "
        "p is uncorrected; next: recallbench compare a b"
    )
    assert tone == "open"


def rule(outcome: str) -> ConditionPart:
    return ConditionPart.model_validate(
        {
            "condition": "recall_any@10 drops 0.01", "measure": RECALL, "threshold": 0.01, "low": 0.0, "high": 0.1,
            "outcome": outcome, "reason": "because",
        }
    )  # fmt: skip


def test_named_rules_are_told_of() -> None:
    more = measured(RECALL, 0.1)
    line, tone = concluded(more, conditions=[rule("fails"), rule("passes")])
    figures = "recall_any@10 +0.1000 (+0.0700 to +0.1300), 1982 questions, p 0.0020 (Holm)"
    assert line == (f"The rule 'recall_any@10 drops 0.01' fails: {figures}; next: recallbench compare a b --show 10")
    assert tone == "bad"
    line, tone = concluded(more, conditions=[rule("inconclusive")])
    assert line.startswith(
        f"The rule 'recall_any@10 drops 0.01' is inconclusive, which fails only with --strict: {figures}; next: "
    )
    assert tone == "open"
    line, tone = concluded(more, conditions=[rule("inconclusive")], strict=True)
    assert "is inconclusive, which --strict forbids: recall_any@10 +0.1000 (" in line
    assert tone == "bad"
    several = [rule("inconclusive"), rule("fails"), rule("fails")]
    assert " drops 0.01' fails, and 2 more do not pass: recall_any@10 " in concluded(more, conditions=several)[0]
    assert " fails, and 1 more does not pass: " in concluded(more, conditions=several[:2])[0]
    assert "; all 2 rules pass; " in concluded(more, conditions=[rule("passes")] * 2)[0]
    assert "; the rule passes; " in concluded(more, conditions=[rule("passes")])[0]


def test_a_rule_that_could_not_fail_is_told_of() -> None:
    few = measured(RECALL, -0.1, p=0.125, p_holm=0.125, smallest_p=0.125)
    line, _ = concluded(few, fail=True)
    assert "; --fail-on-regression could not fail; " in line
    assert line.count("so few questions differ") == 1
    assert "--fail-on-regression" not in concluded(measured(RECALL, 0.1), fail=True)[0]


def test_a_folder_that_was_altered_comes_first() -> None:
    line, tone = concluded(measured(RECALL, 0.1), second=side("b c", altered=True))
    assert "; the files of B are not as its manifest says; next: recallbench audit 'b c'" in line
    assert tone == "open"


def test_runs_have_no_folder_to_gate() -> None:
    line, _ = concluded(measured(RECALL, 0.1), second=side("b.trec", store=""))
    assert line.endswith("next: recallbench compare a b --show 10")


def test_the_line_stays_short() -> None:
    """Both measures, each rule, and each way in which they may stand to each other."""
    again = "recallbench compare old new"
    wide = {"low": -0.01, "high": 0.2}
    measures = [
        [measured(RECALL, by, **more), measured(MRR, way * by, **other)]
        for by in (0.1, -0.1)
        for way in (1, -1)
        for more, other in (({}, {}), (wide, {}), (OPEN, {}), (OPEN, OPEN), ({}, OPEN), ({"turning": ["conv-30"]}, {}))
    ]
    rules = [[], [rule("passes")] * 2, [rule("fails")] * 2, [rule("inconclusive")]]
    for both in measures:
        for conditions in rules:
            told = comparison(*both, conditions=conditions, second=side("new"), clusters=10)
            line = str(conclude_comparison(told, again))
            assert len(line) <= 220, line
