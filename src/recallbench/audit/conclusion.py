"""The last line of an audit: whether anything contradicts the folder, what was not checked, and what to do."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Sequence

from recallbench.audit.audit import Audit
from recallbench.audit.checks.folder import SEALED
from recallbench.audit.gate import Check
from recallbench.audit.gates.artefacts import NO_REPOSITORY
from recallbench.audit.outcome import WORDS, Word, missing_dataset, not_checked, outcome
from recallbench.corpora.labelled_sets.set_name import is_set_name, parse_set_name, plain_names
from recallbench.escaping.terminal import shortened
from recallbench.reports.conclusions.names import listed
from recallbench.reports.printing.conclusion import Conclusion, Tone

_EDITED = re.compile(r"(\S+) has sha256 ")
LONGEST = 100
"""Characters of a reason."""
BESIDE = ("RB-HISTORY", "RB-ATTESTED")
"""Checks of what lies beside the folder: no figure depends on that. Each says itself what mends it."""
NO_CONTRADICTION = "Nothing contradicts the folder"
TONES: dict[Word, Tone] = {
    "holds": "good",
    "holds, not committed": "open",
    "not checked": "open",
    "does not hold": "bad",
    "blocked": "bad",
}


def conclude_audit(examined: Audit) -> Conclusion:
    """Return how the audit of one folder ends."""
    folder, checks = shlex.quote(str(examined.folder)), examined.checks
    found = outcome(checks)
    tone = TONES[found.word]
    if found.word == "blocked":
        return Conclusion("The run was not made, so there is nothing to audit", "", f"read {folder}/BLOCKED.md", tone)
    unchecked = f"not checked: {listed(not_checked(checks))}{_reason(examined)}" if not_checked(checks) else ""
    if found.word == "does not hold":
        return _contradicted(examined, unchecked)
    if found.word == "not checked":
        return Conclusion(NO_CONTRADICTION, unchecked, _remedy(examined, folder), tone)
    passed = f"{NO_CONTRADICTION}: {_passed(checks)}"
    waiting = next((check.observed for check in checks if check.status == "pending"), "")
    if waiting:
        told = f"not committed: {waiting.removeprefix('not committed: ')}"
        return Conclusion(passed, told, f"{commit_step(waiting, folder)}, then recallbench audit {folder}", tone)
    controls = [f"{text}, " for text in examined.recorded if text.startswith("that the ") and "control" in text]
    trusted = f"its times, {''.join(controls)}and that {examined.store} returned these rankings"
    trust = f"taken on trust: {trusted}" if examined.store else ""
    then = f"recallbench {'cite' if examined.verdict.canonical else 'report'} {folder}" if examined.store else ""
    return Conclusion(f"{passed}, and git has its files as they are", trust, then, tone)


def conclude_audits(audits: Sequence[Audit], refused: int = 0) -> Conclusion | None:
    """Return how the audit of several folders ends, `refused` of which were no results; None where nothing was read."""
    if not audits:
        return None
    if len(audits) == 1 and not refused:
        return conclude_audit(audits[0])
    found = [(outcome(examined.checks), examined) for examined in audits]
    counts = Counter(each.word for each, _ in found)
    said = [f"{count} {_of_several(word, count)}" for word in WORDS if (count := counts[word])]
    if refused:
        said.append(f"{refused} can't be read as {'a result' if refused == 1 else 'results'}")
    happened = f"Of {len(audits) + refused} folders {', '.join(said)}"
    least = max(counts, key=WORDS.index)
    worst = [(each, examined) for each, examined in found if each.word == least]
    tone = "bad" if refused else TONES[least]
    if least == "holds":
        return Conclusion(happened, tone=tone)
    named = listed([f"{examined.folder}{f' ({listed(each.what)})' if each.what else ''}" for each, examined in worst])
    return Conclusion(happened, f"{least}: {named}", conclude_audit(worst[0][1]).next, tone)


def commit_step(observed: str, folder: str) -> str:
    """Return what to do about a folder that is not committed, by what was observed of it."""
    if observed != NO_REPOSITORY:
        return "commit it"
    return f"put it into git (git init; git add {folder}; git commit -m result)"


def _contradicted(examined: Audit, unchecked: str) -> Conclusion:
    failed = [check for check in examined.checks if check.status == "fail"]
    whole, first = (
        len(examined.checks),
        f"{failed[0].code} ({failed[0].name}): {shortened(failed[0].observed, LONGEST)}",
    )
    count = f"1 of {whole} checks fails," if len(failed) == 1 else f"{len(failed)} of {whole} checks fail, first"
    trust = "its figures are not to be relied on"
    if all(check.code in BESIDE for check in failed):
        trust = "nothing contradicts its figures"
    told = f"{trust}, and {unchecked}" if unchecked else trust
    return Conclusion(f"The folder does not hold: {count} {first}", told, _mending(examined, failed[0]), "bad")


def _mending(examined: Audit, failed: Check) -> str:
    """Return what to do about a check that fails."""
    folder = shlex.quote(str(examined.folder))
    if failed.remedy:
        return failed.remedy
    if not examined.store:
        return f"recallbench audit {folder} --verbose"
    sealed = next((check for check in examined.checks if check.status == "fail" and check.code == SEALED.code), None)
    edited = [] if sealed is None else _EDITED.findall(sealed.observed)
    restore = (
        f"restore {listed(edited)} as {'it was' if len(edited) == 1 else 'they were'} written, or " if edited else ""
    )
    if examined.anew:
        return f"{restore}measure anew: {examined.anew}"
    return f"{restore or 'get the folder as it was made, or '}measure anew"


def _of_several(word: Word, count: int) -> str:
    """Return the word as a verb behind a count."""
    one = count == 1
    return {
        "holds": "holds" if one else "hold",
        "holds, not committed": f"{'holds' if one else 'hold'} but {'is' if one else 'are'} not committed",
        "not checked": f"{'was' if one else 'were'} not checked in full",
        "does not hold": f"{'does' if one else 'do'} not hold",
        "blocked": f"{'is' if one else 'are'} blocked",
    }[word]


def _passed(checks: Sequence[Check]) -> str:
    passing = sum(check.status == "pass" for check in checks)
    aside = sum(check.status == "cannot-tell" for check in checks)
    beside = f", and {aside} that a result may do without can't tell" if aside else ""
    return f"{passing} {'check passes' if passing == 1 else 'checks pass'}{beside}"


def _reason(examined: Audit) -> str:
    """Return why something was not checked, behind a comma; without the dataset, that it is not here."""
    checks = examined.checks
    why = missing_dataset(checks) or next(c for c in checks if c.status == "cannot-tell" and c.needed)
    told = why.observed.removesuffix(why.remedy).removesuffix("give it with --corpus-file, or ").removesuffix(": ")
    if is_set_name(examined.corpus):
        told = told.replace(
            f"where {examined.corpus} lies", f"where the set {parse_set_name(examined.corpus).folder} lies"
        )
    return f", since {shortened(plain_names(told), LONGEST)}"


def _remedy(examined: Audit, folder: str) -> str:
    missing = missing_dataset(examined.checks)
    if missing is None:
        return f"recallbench audit {folder} --verbose"
    if missing.remedy.startswith("recallbench "):
        return missing.remedy
    return f"recallbench audit {folder} --corpus-file {'FOLDER' if is_set_name(examined.corpus) else 'FILE'}"
