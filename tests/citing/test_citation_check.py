"""What an editor may do to a text, and what a text may honestly say: each is held to a real result.

The audit is given, as in test_citation.py; that a folder which no audit passes supports nothing is in
tests/cli/test_cite_command.py.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from commandline import recallbench
from recallbench.audit.audit import Audit
from recallbench.audit.decision import Verdict
from recallbench.citing.citation_check import CheckedFigure, check
from recallbench.citing.cited_figures import FigureReader
from recallbench.results.result import open_result

F = "results/bm25_20261118"
HEAD = "On canary-locomo, under protocol 1.0.0 and with deviations.\n\n"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The figures below are those of the bundled canary with BM25: 0.8354, 0.7598 to 0.8877, n = 158; MRR 0.4575."""
    place = tmp_path_factory.mktemp("texts")
    assert recallbench("run", "canary-locomo", "--store", "bm25", "--folder", F, "-q", cwd=place).returncode == 0
    (place / ".git").mkdir()
    return place


def checked(place: Path, body: str, *, canonical: bool = False) -> tuple[CheckedFigure, ...]:
    deviations = () if canonical else ("store: bm25 instead of pgmnemo",)
    (place / "note.md").write_text(body)
    return check(
        place / "note.md", lambda folder: Audit(folder, (), Verdict("VERIFIED", (), (), canonical), deviations)
    )


def by_name(place: Path, bodies: dict[str, str]) -> dict[str, list[CheckedFigure]]:
    """The figures of many texts, each below a heading of its own in one file, by the text's name."""
    result = open_result(place / F)
    (kind,) = (part for part in result.metrics.estimates["multi-hop"] if part.measure == "recall_any@10")
    lines: list[str] = []
    starts: dict[str, int] = {}
    for name, body in bodies.items():
        starts[name] = len(lines) + 1
        lines += [f"## Case {name}", "", *f"{HEAD}{body.replace('{multi-hop}', f'{kind.value:.4f}')}".splitlines(), ""]
    figures = checked(place, "\n".join(lines))
    last = [*starts.values(), len(lines) + 1]
    return {
        name: [figure for figure in figures if start <= figure.figure.line < end]
        for (name, start), end in zip(starts.items(), last[1:], strict=True)
    }


HONEST = {
    "digits": f"recall@10 is 0.8354 ({F})",
    "fewer digits": f"recall@10 is 0.84 ({F})",
    "percent": f"recall@10: 83.5% ({F})",
    "per cent": f"recall@10 is 83.54 percent, {F}",
    "behind": f"0.8354 recall@10, see {F}",
    "in brackets behind": f"It reaches 83.5% (recall@10) in {F}",
    "behind, with interval": f"We reach 83.5% recall@10 (95% CI 76.0–88.8%, n = 158) in {F}",
    "interval in rows": "| measure | value | 95% CI |\n|---|---|---|\n| recall@10 | 83.5 % | 76.0–88.8 % |\n\n"
    f"From {F}",
    "two measures and an aside": f"recall@10 is 0.8354, and MRR 0.4575, over all questions; {F}",
    "weights": f"recall@10 0.8354 with weights (0.5, 0.5), {F}",
    "n of other questions": f"recall@10 0.8354; abstention over n = 24 questions, {F}",
    "own name before": f"On canary-locomo, bm25 has recall@10 0.8354, {F}",
    "clusters": f"Over n = 4 conversations recall@10 is 0.8354, {F}",
    "dash": f"- recall@10 — 0.8354\n- MRR – 0.4575\n\nSee {F}",
    "success": f"success@10 of .835 in {F}",
    "report": f"We measured recall@10 = 0.835, see [the report]({F}/report.md).",
    "address": f"recall@10 0.8354 (https://example.org/o/r/blob/main/{F}/report.md)",
    "interval": f"recall@10 0.835 (95% CI 0.760–0.888), n=158, {F}",
    "brackets": f"recall@10 0.8354 [0.7598, 0.8877] {F}",
    "two": f"MRR 0.4575 and recall@10 83.54% in `{F}`",
    "controls": f"recall@10 0.8354 (chance 0.4774, BM25 0.8354), {F}",
    "lines": f"recall@10\nis 0.8354\nin {F}",
    "list": f"Artefacts: {F}\n- recall@10 0.8354\n- MRR 0.4575",
    "rows": f"| metric | value | n |\n|---|---|---|\n| recall@10 | 0.8354 | 158 |\n| MRR | 0.4575 | 158 |\n\nFrom {F}",
    "columns": f"| system | recall@10 | 95% CI | MRR |\n|---|---|---|---|\n"
    f"| [x]({F}) | **83.5%** | [76.0%, 88.8%] | .458 |\n| *chance* | 0.4774 | – | 0.1797 |",
    "bars at the ends left out": f"recall@10 | MRR\n--- | ---\n0.8354 | 0.4575\n\nFrom {F}",
    "footnote": f"recall@10 0.8354[^1]\n\n[^1]: {F}",
    "link defined below": f"recall@10 [0.8354][r]\n\n[r]: {F}/report.md",
    "heading": f"# {F} on canary-locomo, with deviations\n\nrecall@10 0.8354",
    "percent by its column": f"| recall@10 (%) |\n|---|\n| 83.5 |\n\nFrom {F}",
    "corpus": f"On canary-locomo, recall@10 for canary-locomo is 0.8354 ({F})",
    "kind": f"On multi-hop questions recall@10 is {{multi-hop}} ({F})",
    "kind behind": f"recall@10 is {{multi-hop}} on multi-hop ({F})",
    "folder of its own row": f"- Folder: {F}\n- recall@10: 0.8354\n- MRR: 0.4575",
    "count with a comma's place": f"recall@10 0.8354 (n = 158), MRR 0.4575 (n = 158): {F}",
    "quoted": f"> recall@10 0.8354 ({F})",
    "interval that names its measure": f"| system | recall@10 | MRR | 95% interval of recall@10 | build s |\n"
    f"|---|---|---|---|---|\n| [x]({F}) | 0.8354 | 0.4575 | 0.7598 to 0.8877 | 0.55 |",
    "measure in a column": f"| system | measure | value | 95% interval | BM25 | chance |\n|---|---|---|---|---|---|\n"
    f"| [x]({F}) | recall_any@10 | 0.8354 | 0.7598 to 0.8877 | 0.8354 | 0.4774 |",
    "controls of the one measure": "| result | recall_any@10 | 95% interval | n | BM25 | chance | departs in |\n"
    f"|---|---|---|---|---|---|---|\n| [x]({F}) | 0.8354 | 0.7598 to 0.8877 | 158 | 0.8354 | 0.4774 | store |",
    "value and interval in one cell": "| system | recall@10 (95% CI) |\n|---|---|\n"
    f"| [x]({F}) | 0.8354 (0.7598 to 0.8877) |",
    "folder elsewhere in the section": f"MRR 0.4575 is low.\n\nWords.\n\nMore words.\n\nSee {F}",
    "folder in a command": f"recall@10 is 0.8354.\n\nWords.\n\n```sh\nrecallbench audit {F}\n```",
    "folder of the section above": f"All from {F}\n\n### On canary-locomo, a deviation\n\nrecall@10 is 0.8354.",
    "at least": f"Our memory reaches recall_any@10 >= 0.8 ({F})",
    "at least what reports print": f"recall@10 is at least 0.8354 ({F})",
    "of at least": f"A recall@10 of at least 83% ({F})",
    "above": f"recall@10 is above 0.83 ({F})",
    "more than": f"More than 80% recall@10 ({F})",
    "or more": f"recall@10 of 0.8 or more ({F})",
    "below": f"recall@10 is below 0.9 ({F})",
    "as code": f"`recall_any@10 >= 0.8` ({F})",
    "bound in a table": f"| system | recall@10 |\n|---|---|\n| [x]({F}) | > 0.8 |",
    "kinds in rows": f"| kind | recall@10 |\n|---|---|\n| multi-hop | {{multi-hop}} |\n| all | 0.8354 |\n\nFrom {F}",
}

SILENT = {
    "other whole numbers": f"recall@10 on 50 questions and recall@10, 20 to 30 sessions; {F}",
    "band": "The band of recall@10 is 0.005.",
    "rule": "The gate requires a recall@10 of 0.90.",
    "rule as code": '`compare(report, drops={"recall@10": 0.01})`',
    "command": "```sh\nrecallbench compare A B --fail-if 'recall_any@10 drops 0.005'\n```",
    "block": f"```\nrecall@10 0.845 {F}\n```",
    "HTML": f"<table><tr><th>recall@10</th></tr><tr><td>0.9354</td></tr></table>\n\n{F}",
    "picture": f"![recall@10 0.93](badge.svg) {F}",
    "seconds": "recall@10 is computed in 0.47 s.",
    "version": "recall@10 with pgmnemo 0.21.0",
    "probability": "recall@10 differs, p < .05.",
    "target": "Our target for recall@10 is 0.90.",
    "target of": "recall@10's target is 0.90.",
    "targets": "Targets: recall@10 0.90.",
    "gate": "The gate requires recall@10 of 0.80.",
    "bound below": "recall@10 must not fall below 0.85.",
    "at least": "A recall@10 of at least .95 is good.",
    "at least before": "At least 95% recall@10.",
    "bound": "The rule is recall@10 >= 0.9.",
    "bound as code": "`recall_any@10 >= 0.9`",
    "or more": "A recall@10 of 0.9 or more",
    "condition": "The build fails if recall@10 is below 0.95.",
    "drop": "recall@10 drops 0.005.",
    "assumed": "a recall of .90 is assumed.",
    "option as code": f"`--fail-if 'recall_any@10 0.05'` against {F}",
    "command as code": f"`recallbench compare A B --fail-if recall_any@10 0.005` against {F}",
    "call as code": f"`assert report['recall_any@10'] > 0.80` ({F})",
    "table of thresholds": "| bands | recall@10 | MRR |\n|---|---|---|\n| locomo | 0.010 | 0.015 |",
    "table that is output": "It prints:\n\n| system | recall@10 |\n|---|---|\n| x | 0.93 |",
    "thresholds in a list": "These are the thresholds that teams use: recall .70, nDCG .85 and MRR .90.",
    "seconds in a table": f"| system | recall@10 | build s |\n|---|---|---|\n| [x]({F}) | – | 0.55 |",
}


def test_what_is_true_passes(place: Path) -> None:
    statuses = {name: {figure.state for figure in figures} for name, figures in by_name(place, HONEST).items()}
    assert statuses == {key: {"right"} for key in HONEST}


def test_what_no_result_states_is_passed_over(place: Path) -> None:
    assert by_name(place, SILENT) == {key: [] for key in SILENT}


ALTERED = {
    "digit": (f"recall@10 is 0.8364 ({F})", "has 0.8354"),
    "percent": (f"recall@10: 84.5% ({F})", "has 0.8354"),
    "comma": (f"recall@10 0,845 ({F})", "has 0.8354"),
    "rounded up": (f"recall@10 is 0.85 ({F})", "has 0.8354"),
    "coarse": (f"recall@10 is 1.0 ({F})", "has 0.8354"),
    "behind": (f"0.8454 recall@10, {F}", "has 0.8354"),
    "lines": (f"recall@10\nis 0.8454\nin {F}", "has 0.8354"),
    "markup": (f"**recall@10** <b>0.845</b> ({F})", "has 0.8354"),
    "bare": (f"recall of 84.5% ({F})", "has 0.8354"),
    "another measure": (f"recall_frac@10 0.8354 ({F})", "it is its recall_any@10"),
    "a depth": (f"recall@5 0.8354 ({F})", "has 0.7089"),
    "interval": (f"recall@10 0.8354, 95% interval 0.7893 to 0.8877, {F}", "the interval 0.7893 to 0.8877"),
    "interval behind": (f"We reach 83.5% recall@10 (95% CI 0.790 to 0.888) in {F}", "the interval 0.790"),
    "interval in rows": (
        f"| measure | value | 95% CI |\n|---|---|---|\n| recall@10 | 83.5% | 79.0–88.8 % |\n\nFrom {F}",
        "the interval 79.0%",
    ),
    "interval in brackets": (f"recall@10 0.8354 [0.7598, 0.8916] {F}", "the interval"),
    "at": (f"With MRR at 0.5575 ({F})", "has 0.4575"),
    "list over its folder": (f"- recall@10 0.8354\n- MRR 0.5575\n\nSee {F}.", "has 0.4575"),
    "n": (f"recall@10 0.8354, n = 1982, {F}", "n = 1982: the folder has 158"),
    "chance": (f"recall@10 0.8354 (chance 0.2774), {F}", "has 0.4774"),
    "control": (f"recall@10 0.8354 (BM25 0.6354), {F}", "has 0.8354"),
    "no such folder": ("recall@10 0.8354, results/bm25_20261119", "there is no result folder"),
    "row": (f"| metric | value |\n|---|---|\n| recall@10 | 0.8454 |\n\nFrom {F}", "has 0.8354"),
    "column": (f"| system | recall@10 |\n|---|---|\n| [x]({F}) | 0.8454 |", "has 0.8354"),
    "a column's interval": (
        f"| system | recall@10 | 95% interval |\n|---|---|---|\n| [x]({F}) | 0.8354 | 0.80 to 0.87 |",
        "the interval",
    ),
    "a column's n": (f"| system | recall@10 | n |\n|---|---|---|\n| [x]({F}) | 0.8354 | 1982 |", "n = 1982"),
    "a row of its own": (
        f"| system | recall@10 |\n|---|---|\n| [x]({F}) | 0.8354 |\n| ours | 0.93 |",
        "row `ours`: no result folder",
    ),
    "whole percent in a column": (f"| recall@10 (%) |\n|---|\n| 94 |\n\nFrom {F}", "has 0.8354"),
    "entity": (f"recall@10 is 0&#46;94 ({F})", "has 0.8354"),
    "entity for the sign": (f"recall@10 is 94&#37; ({F})", "has 0.8354"),
    "underscores": (f"recall@10 __0.94__ ({F})", "has 0.8354"),
    "footnote": (f"recall@10 0.9354[^1]\n\n[^1]: {F}", "has 0.8354"),
    "a kind's behind": (f"recall@10 is 0.8354 on multi-hop ({F})", "has "),
    "a bar in a cell": (f"From {F}\n\n| a \\| b | recall@10 |\n|---|---|\n| all | 0.94 |\n", "has 0.8354"),
    "heading": (f"# {F}, with deviations\n\nrecall@10 0.9354", "has 0.8354"),
    "as a kind's": (f"recall@10 on multi-hop: 0.8354 ({F})", "has "),
    "a row as a kind's": (f"| kind | recall@10 |\n|---|---|\n| multi-hop | 0.8354 |\n\nFrom {F}", "has "),
    "a demand elsewhere": (f"It requires no model and reaches recall@10 0.99 ({F})", "has 0.8354"),
    "a gate that holds": (f"The gate holds: recall@10 is 0.99 ({F})", "has 0.8354"),
    "thresholds that are met": (f"All thresholds are met: recall@10 is 0.99 ({F})", "has 0.8354"),
    "a rule elsewhere": (f"With the gate passed, recall@10 is 0.99 ({F})", "has 0.8354"),
    "no folder": ("recall@10 0.93", "no result folder"),
    "a control of the one measure": (
        f"| result | recall_any@10 | BM25 | chance |\n|---|---|---|---|\n| [x]({F}) | 0.8354 | 0.8354 | 0.4874 |",
        "has 0.4774",
    ),
    "another interval that names its measure": (
        f"| system | recall@10 | MRR | 95% interval of recall@10 |\n|---|---|---|---|\n"
        f"| [x]({F}) | 0.8354 | 0.4575 | 0.7598 to 0.8977 |",
        "the interval 0.7598 to 0.8977",
    ),
    "another system's row near the folder": (
        f"| system | recall@10 |\n|---|---|\n| exact | 0.8354 |\n\nWords.\n\nSee {F}",
        f"row `exact`: no result folder is named for it, and {F} near it does not have it so",
    ),
    "too coarse for the folder near it": (f"recall@10 is 0.84.\n\nWords.\n\nMore.\n\nSee {F}", "no result folder"),
    "bound": (f"Our memory reaches recall_any@10 >= 0.9999 ({F})", "has 0.8354, which is not >= 0.9999"),
    "bound of the printed value": (f"recall@10 is more than 0.8354 ({F})", "which is not > 0.8354"),
    "of at least": (f"A recall@10 of at least 0.9999 ({F})", "which is not >= 0.9999"),
    "is above": (f"recall@10 is above 0.9999 ({F})", "which is not > 0.9999"),
    "is over": (f"recall@10 is over 85% ({F})", "which is not > 85%"),
    "more than": (f"More than 99.99% recall@10 ({F})", "which is not > 99.99%"),
    "we find more than": (f"We find more than 99.99% recall@10 in {F}", "which is not > 99.99%"),
    "that is": (f"We find a recall@10 that is at least 0.99 ({F})", "which is not >= 0.99"),
    "or more": (f"recall@10 of 0.9 or more ({F})", "which is not >= 0.9"),
    "exceeds": (f"recall@10 exceeds 0.99 ({F})", "which is not > 0.99"),
    "never below": (f"recall@10 never falls below 0.99 ({F})", "which is not >= 0.99"),
    "a target that is met": (f"It meets the target of recall@10 0.99 ({F})", "which is not >= 0.99"),
    "bound as code": (f"`recall_any@10 >= 0.9` ({F})", "which is not >= 0.9"),
    "bound in a table": (f"| system | recall@10 |\n|---|---|\n| [x]({F}) | ≥ 0.99 |", "which is not >= 0.99"),
    "bound of another": (f"recall@10 is below 0.8 ({F})", "which is not < 0.8"),
    "bound without a folder": ("Our memory finds recall@10 >= 0.8", "no result folder"),
    "bound near a folder": (f"Our memory has recall@10 above 0.800.\n\nWords.\n\nMore.\n\nSee {F}", "no result folder"),
    "a gate's table of folders": (f"| gate | recall@10 |\n|---|---|\n| [x]({F}) | 0.99 |", "has 0.8354"),
    "authority": (f"pgmnemo Recall Benchmark Protocol v1.0.0: recall@10 0.8354, {F}", "under the protocol's name"),
}


def problems_of(place: Path, cases: dict[str, tuple[str, str]], states: tuple[str, ...]) -> dict[str, list[str]]:
    figures = by_name(place, {name: body for name, (body, _) in cases.items()})
    return {name: [" ".join(figure.problems) for figure in figures[name] if figure.state in states] for name in cases}


def without_expected(problems: dict[str, list[str]], cases: dict[str, tuple[str, str]]) -> dict[str, list[str]]:
    """The cases of which no figure has the expected problem, with those that they have."""
    return {name: texts for name, texts in problems.items() if not any(cases[name][1] in text for text in texts)}


def test_what_is_wrong_is_named(place: Path) -> None:
    problems_by_name = problems_of(place, ALTERED, ("wrong", "right but undisclosed", "no folder named"))
    assert without_expected(problems_by_name, ALTERED) == {}


UNPLACED: dict[str, tuple[str, str]] = {
    "whole percent": (f"recall@10: 84 ({F})", "84 is not read as the value"),
    "percent without its sign": (f"recall@10 84.5 ({F})", "84.5 is not read as the value"),
    "fraction": (f"recall@10 is 150/158 ({F})", "150/158 is not read as the value"),
    "half": (f"recall@10 0.835 ± 0.026 ({F})", "several figures are given"),
    "another name": (f"recall@10 (recall_frac@10) 0.7679 ({F})", "several measures"),
    "far": (
        f"recall@10 with our newest store, after all changes, is now 0.8454 ({F})",
        "what 'with newest store after changes'",
    ),
    "in the past": (f"recall@10 was 0.79 before ({F})", "0.79 is not read as the value"),
    "gain of more": (f"A gain of more than 0.02 recall@10 ({F})", "what 'gain of' makes"),
    "gain": (f"A gain of 0.02 recall@10 ({F})", "no measure is named"),
    "before": (f"Before, recall@10 was 0.79 ({F})", "what 'Before' makes"),
    "another version": (f"In 0.7.2, recall@10 was 0.79 ({F})", "what 'In 0.7.2' makes"),
    "loss": (f"A drop in recall@10 of 0.02 ({F})", "what 'drop in' makes"),
    "column of differences": (f"| system | Δ recall@10 |\n|---|---|\n| [x]({F}) | 0.15 |", "what 'Δ' makes"),
    "another system": (f"pgmnemo 0.21.0 reaches recall@10 0.8354 ({F})", "it may be of pgmnemo"),
    "chance before its measure": (f"Chance: recall@10 0.4774 ({F})", "it may be of Chance"),
    "depth behind": (f"Recall: 0.7089 at k = 5 ({F})", "the depth of Recall is not read"),
    "depth before": (f"top-5 recall is 0.7089 ({F})", "the depth of recall is not read"),
    "depths in rows": (f"| k | recall |\n|---|---|\n| 5 | 0.7089 |\n\nFrom {F}", "the depth of recall"),
    "latency": (f"recall@10 is 0.8354 and p95 is 0.47 s ({F})", "0.47 is not read as the value"),
    "higher": (f"recall@10 is 0.02 higher ({F})", "0.02 is not read as the value"),
    "another setting": (
        f"| setting | recall@10 |\n|---|---|\n| default | 0.8354 |\n| no fusion | 0.79 |\n\nFrom {F}",
        "no fusion",
    ),
    "another column": (
        f"| metric | value | p |\n|---|---|---|\n| recall@10 | 0.8354 | 0.04 |\n\nFrom {F}",
        "what 'p' makes",
    ),
    "the one before": (f"| metric | before |\n|---|---|\n| recall@10 | 0.79 |\n\nFrom {F}", "what 'before' makes"),
    "another corpus": (
        f"On LongMemEval, recall@10 is 0.8354 ({F})",
        "names longmemeval, the folder is of canary-locomo",
    ),
    "kind elsewhere": (f"On multi-hop, recall@10 is {{multi-hop}} and MRR 0.39 ({F})", "it may be of multi-hop"),
    "a gate in between": (f"recall@10 with the gate on is 0.99 ({F})", "what 'with gate' makes"),
    "two intervals": (f"recall@10 0.8354 [0.7598, 0.8877] (95% CI 0.70 to 0.90), {F}", "several figures are given"),
    "two behind": (f"We got 83.5% recall@10, 45.8% MRR ({F})", "several figures are given"),
    "in one breath": (f"recall@10 and MRR are 0.83 and 0.45 ({F})", "several measures"),
    "measure above": (f"- {F}\n  - recall@10\n    - 0.9454", "no measure is named"),
    "baseline": ("The published baseline has recall@10 0.933.", "a baseline of others has no result folder"),
    "difference": (f"recall@10 0.8354, up 3.2 %, {F}", "several figures are given"),
    "no measure": (f"It finds 0.845 of what matters ({F}).", "no measure is named"),
    "no measure of ours": (f"accuracy 0.9354 ({F})", "accuracy is no measure"),
    "rule: condition": (f"The build fails if recall@10 is below 0.95 ({F})", "by its words a rule or a target"),
    "rule: drop": (f"recall@10 drops 0.005 ({F})", "by its words a rule or a target"),
    "rule: target": (f"Our target for recall@10 is 0.90 ({F})", "by its words a rule or a target"),
    "rule: target of": (f"recall@10's target is 0.90 ({F})", "by its words a rule or a target"),
    "rule: targets": (f"Targets: recall@10 0.90 ({F})", "by its words a rule or a target"),
    "rule: gate": (f"The gate requires recall@10 of 0.80 ({F})", "by its words a rule or a target"),
    "rule: bound below": (f"recall@10 must not fall below 0.85 ({F})", "by its words a rule or a target"),
    "rule: assumed": (f"a recall of .90 is assumed ({F})", "by its words a rule or a target"),
    "rule: required": (f"The required recall@10 of 0.99 is reached ({F})", "by its words a rule or a target"),
    "rule: minimum": (f"Minimum recall@10: 0.99 ({F})", "by its words a rule or a target"),
    "few digits": (f"recall@10 is 0.8 ({F})", "too few digits"),
    "two figures": (f"recall@10 is 0.8354, and 0.9354 on a good day ({F})", "several figures are given"),
    "kinds behind a figure": (
        f"recall@10 is 0.8354, on multi-hop {{multi-hop}} ({F})",
        "several figures are given",
    ),
    "from and to": (f"recall@10 went from 0.75 to 0.9354 ({F})", "several figures are given"),
    "two folders": (f"recall@10 is 0.9354 ({F}, results/other_20261118)", "several folders"),
}


def test_what_can_not_be_placed_is_not_called_wrong(place: Path) -> None:
    problems_by_name = problems_of(place, UNPLACED, ("not checkable",))
    assert without_expected(problems_by_name, UNPLACED) == {}
    assert problems_of(place, UNPLACED, ("wrong", "right but undisclosed", "no folder named")) == {
        key: [] for key in UNPLACED
    }


def test_the_line_is_that_of_the_figure(place: Path) -> None:
    body = f"# T\n\nText\nrecall@10\n0.8454 {F}\n\n- a\n- MRR 0.5 {F}\n"
    assert [figure.figure.line for figure in checked(place, body)] == [5, 8]


WORDS = st.sampled_from(
    [
        "recall@10",
        "MRR",
        "recall",
        "0.93",
        "93.4%",
        "1.0",
        "±",
        "->",
        "to",
        "|",
        "\n",
        "\n\n",
        "- ",
        "#",
        "```",
        "`",
        "n = 5",
        "results/x_20261118",
        "[",
        "](",
        ")",
        "95% interval",
        "+0.02",
        "3 points",
        "chance",
        "BM25",
        "a" * 12 + "1",
        ".",
        ",",
    ]
)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(WORDS, max_size=40), st.text(max_size=20))
def test_any_text_can_be_read(place: Path, words: list[str], more: str) -> None:
    text = " ".join([*words, more]).encode("utf-8", "replace").decode()
    lines = len(text.splitlines())
    assert all(1 <= figure.line <= lines for figure in FigureReader(lambda word: None).read(text))
    checked(place, text.replace("results/x_20261118", F).replace("\0", ""))
