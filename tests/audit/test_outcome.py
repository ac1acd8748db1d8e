"""An audit in five words, and its last line."""

from dataclasses import replace
from pathlib import Path

import pytest

from recallbench.audit.audit import Audit
from recallbench.audit.conclusion import conclude_audit, conclude_audits
from recallbench.audit.decision import decide
from recallbench.audit.examination import NO_DATASET
from recallbench.audit.gate import Check, Status
from recallbench.audit.gates.artefacts import NO_REPOSITORY
from recallbench.audit.outcome import outcome


def check(code: str, name: str, status: Status, observed: str = "as it should", *, remedy: str = "") -> Check:
    return Check(name, status, "that it is so", observed, code=code, remedy=remedy)


FILES = check("RB-FILES", "files", "pass")
AWAY = check(
    "RB-DATASET",
    "dataset",
    "cannot-tell",
    "the locomo corpus is not on this machine: give it with --corpus-file, or recallbench fetch locomo",
    remedy="recallbench fetch locomo",
)
GOLD = check("RB-GOLD", "gold", "cannot-tell", NO_DATASET)
LABELS = check("RB-LABELS", "labels", "cannot-tell", NO_DATASET)
GIT = check("RB-COMMITTED", "artefacts present", "cannot-tell", "git is not installed")
UNCOMMITTED = check("RB-COMMITTED", "artefacts present", "pending", "not committed: run.trec")
VALUES = check("RB-VALUES", "values", "fail", "recall_any@10: 0.9 stated, 0.8 follows")
MANIFEST = check("RB-MANIFEST", "manifest", "fail", "run.trec has another sha256")
BLOCKED = check("RB-BLOCKED", "BLOCKED absent", "fail", "BLOCKED.md is there")
ASIDE = Check("control", "cannot-tell", "as BM25 ranks", "no file", code="RB-CONTROL-AGAIN", needed=False)


def audited(*checks: Check, folder: str = "r", store: str = "mine") -> Audit:
    anew = "recallbench run locomo --store mine"
    return Audit(
        Path(folder), checks, decide(checks, ["one"]), ("store: mine",), corpus="locomo", store=store, anew=anew
    )


@pytest.mark.parametrize(
    ("checks", "word"),
    [
        ([FILES], "holds"),
        ([FILES, ASIDE], "holds"),
        ([FILES, UNCOMMITTED], "holds, not committed"),
        ([FILES, AWAY, GOLD, LABELS, UNCOMMITTED], "not checked (gold)"),
        ([FILES, GIT], "not checked (artefacts present)"),
        ([FILES, AWAY, GOLD, GIT], "not checked (gold, artefacts present)"),
        ([VALUES, AWAY, UNCOMMITTED], "does not hold (values)"),
        ([VALUES, MANIFEST, VALUES], "does not hold (values, manifest)"),
        ([FILES, BLOCKED, VALUES], "blocked"),
    ],
)
def test_a_word_for_each_audit(checks: list[Check], word: str) -> None:
    assert str(outcome(checks)) == word


def test_of_many_checks_the_first_are_named() -> None:
    failed = [check(f"RB-{name}", name, "fail") for name in ("a", "b", "c", "d", "e")]
    assert str(outcome(failed)) == "does not hold (a, b, c and 2 more)"


@pytest.mark.parametrize(
    ("checks", "line", "tone"),
    [
        (
            [FILES, ASIDE],
            "Nothing contradicts the folder: 1 check passes, and 1 that a result may do without can't tell, and git "
            "has its files as they are; taken on trust: its times, and that mine returned these rankings; next: "
            "recallbench report r",
            "good",
        ),
        (
            [FILES, UNCOMMITTED],
            "Nothing contradicts the folder: 1 check passes; not committed: run.trec; next: commit it, then "
            "recallbench audit r",
            "open",
        ),
        (
            [FILES, check("RB-COMMITTED", "artefacts present", "pending", NO_REPOSITORY)],
            "Nothing contradicts the folder: 1 check passes; not committed: the folder is in no git repository with a "
            "commit; next: put it into git (git init; git add r; git commit -m result), then recallbench audit r",
            "open",
        ),
        (
            [check("RB-MANIFEST", "manifest", "fail", "report.md has sha256 1, the manifest says 2")],
            "The folder does not hold: 1 of 1 checks fails, RB-MANIFEST (manifest): report.md has sha256 1, the "
            "manifest says 2; its figures are not to be relied on; next: restore report.md as it was written, or "
            "measure anew: recallbench run locomo --store mine",
            "bad",
        ),
        (
            [FILES, AWAY, GOLD],
            "Nothing contradicts the folder; not checked: gold, since the locomo corpus is not on this machine; next: "
            "recallbench fetch locomo",
            "open",
        ),
        (
            [FILES, GIT],
            "Nothing contradicts the folder; not checked: artefacts present, since git is not installed; next: "
            "recallbench audit r --verbose",
            "open",
        ),
        (
            [FILES, VALUES, MANIFEST, AWAY],
            "The folder does not hold: 2 of 4 checks fail, first RB-VALUES (values): recall_any@10: 0.9 stated, 0.8 "
            "follows; its figures are not to be relied on, and not checked: gold, since the locomo corpus is not on "
            "this machine; next: measure anew: recallbench run locomo --store mine",
            "bad",
        ),
        ([BLOCKED], "The run was not made, so there is nothing to audit; next: read r/BLOCKED.md", "bad"),
    ],
)
def test_a_folder_ends_in_words(checks: list[Check], line: str, tone: str) -> None:
    concluded = conclude_audit(audited(*checks))
    assert (str(concluded), concluded.tone) == (line, tone)


def test_what_lies_beside_the_folder_contradicts_no_figure() -> None:
    history = check(
        "RB-HISTORY", "deviations on record", "fail", "no entry for store mine", remedy="recallbench history add"
    )
    attested = check("RB-ATTESTED", "attestation", "fail", "there is none", remedy="ask for r.attestation.json")
    assert str(conclude_audit(audited(FILES, history))) == (
        "The folder does not hold: 1 of 2 checks fails, RB-HISTORY (deviations on record): no entry for store mine; "
        "nothing contradicts its figures; next: recallbench history add"
    )
    assert conclude_audit(audited(attested, history)).next == "ask for r.attestation.json"
    assert conclude_audit(audited(history, VALUES)).belief == "its figures are not to be relied on"


def test_the_next_step_is_one_that_can_be_taken() -> None:
    assert conclude_audit(audited(VALUES, store="")).next == "recallbench audit r --verbose"
    own = replace(audited(VALUES, store="python:m:My store"), corpus=f"labelled/kb@{'1' * 64}", anew="")
    assert conclude_audit(own).next == "get the folder as it was made, or measure anew"
    canonical = replace(audited(FILES), verdict=decide([FILES], ()))
    assert conclude_audit(canonical).next == "recallbench cite r"
    assert conclude_audit(audited(FILES, store="")).next == ""


def test_a_set_of_ones_own_is_asked_for_by_its_name() -> None:
    name = f"labelled/my-team@{'1' * 64}+tokens-0.3"
    why = f"where {name} lies is not known: name it with --corpus-file"
    away = check("RB-DATASET", "dataset", "cannot-tell", why, remedy="name it with --corpus-file")
    concluded = conclude_audit(replace(audited(FILES, away, folder="o ut/a"), corpus=name))
    assert (concluded.belief, concluded.next) == (
        "not checked: gold, since where the set my-team lies is not known",
        "recallbench audit 'o ut/a' --corpus-file FOLDER",
    )


def test_a_control_that_was_not_ranked_again_is_taken_on_trust() -> None:
    recorded = ("timings", "that the control's run is BM25's (--rerun-control)")
    concluded = conclude_audit(replace(audited(FILES), recorded=recorded))
    assert concluded.belief == (
        "taken on trust: its times, that the control's run is BM25's (--rerun-control), and that mine returned these "
        "rankings"
    )


def test_a_folder_of_another_tool_says_nothing_of_a_store() -> None:
    assert "taken on trust" not in str(conclude_audit(audited(FILES, store="")))


def test_several_folders_end_in_one_line() -> None:
    good, waiting = audited(FILES), audited(FILES, UNCOMMITTED, folder="u")
    bad, worse = audited(VALUES, folder="bad"), audited(VALUES, folder="my bad")
    concluded = conclude_audits([good, waiting, bad, worse])
    assert str(concluded) == (
        "Of 4 folders 1 holds, 1 holds but is not committed, 2 do not hold; does not hold: bad (values), my bad "
        "(values); next: measure anew: recallbench run locomo --store mine"
    )
    assert str(conclude_audits([good, good])) == "Of 2 folders 2 hold"
    assert str(conclude_audits([good], refused=2)) == "Of 3 folders 1 holds, 2 can't be read as results"
    tones = [None if each is None else each.tone for each in (conclude_audits([good], 1), conclude_audits([], 1))]
    assert tones == ["bad", None]
    assert conclude_audits([good]) == conclude_audit(good)
