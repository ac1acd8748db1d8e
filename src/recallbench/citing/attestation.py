"""A signed statement over a result, beside its folder."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from recallbench.audit.audit import Audit
from recallbench.audit.conclusion import TONES
from recallbench.audit.gate import Check
from recallbench.audit.outcome import outcome
from recallbench.citing.headline import headline_figures
from recallbench.citing.keys import PUBLIC, needs_extra, private_key, public_key
from recallbench.corpora.stream import sha256_of
from recallbench.errors import InputError, UsageError
from recallbench.reading import document, parsed
from recallbench.reports.conclusions.names import listed
from recallbench.reports.printing.conclusion import Conclusion
from recallbench.results import manifest
from recallbench.results.metrics import Metrics
from recallbench.results.result import Result, open_result, open_unchanged
from recallbench.signed_statement import read_signed, sign, statement_of, subjects_of
from recallbench.whole_file import write_errors, write_whole

CODE = "RB-ATTESTED"
REQUIRED = "an attestation beside the folder, signed with that key, over exactly these files"
PREDICATE_TYPE = "urn:recallbench:result:v1"
NOT_CHECKED = "not_checked"
"""The field of the statement that earlier releases did not write."""


def attestation_path(folder: Path) -> Path:
    """Return the path of a result's attestation: beside the folder, never in it."""
    real = folder.resolve()
    return real.with_name(f"{real.name}.attestation.json")


def statement(result: Result, examined: Audit) -> dict[str, Any]:
    """Return what is signed: the hash of every file, what the result states, what its audit found. It holds no time.

    What was not checked is named by codes and names alone: why it could not be is a matter of the machine.
    """
    files, _ = manifest.read(result.folder / manifest.NAME)
    predicate = {
        **_predicate(result.metrics),
        "verdict": examined.verdict.text,
        "canonical": examined.verdict.canonical,
        "outcome": str(outcome(examined.checks)),
        NOT_CHECKED: unchecked(examined),
        "not_derivable": list(examined.recorded),
    }
    return statement_of(
        {manifest.NAME: result.manifest_sha256, **dict(sorted(files.items()))}, PREDICATE_TYPE, predicate
    )


def unchecked(examined: Audit) -> list[str]:
    """Return what an audit did not check, or waits for, by code and name."""
    return [
        f"{check.code} {check.awaits or check.name}"
        for check in examined.checks
        if check.status in ("cannot-tell", "pending")
    ]


def attest(folder: Path, key: Path, examined: Audit) -> Path:
    """Sign the result with what its audit found, and write the envelope beside it.

    Raises InputError for a folder that is not whole.
    """
    needs_extra()
    if (folder.resolve().parent / manifest.NAME).exists():
        raise UsageError(
            f"{folder} lies inside another result",
            expected="a result folder whose attestation can lie beside it",
            remedy="name the outer folder",
        )
    signer = private_key(key)
    result = open_unchanged(folder)
    return write_attestation(attestation_path(folder), sign(statement(result, examined), signer), "the result folder")


def attested(folder: Path, key: Path) -> Check:
    """Check that the attestation beside a folder is of this result and by this key, the public one."""
    public = public_key(key)
    path = attestation_path(folder)
    signed: dict[str, Any] = {}
    try:
        problem = _problem(folder, path, public, signed)
    except InputError as error:
        problem = f"{error.problem}: {error.found}" if error.found else error.problem
    observed = problem or f"{path.name} is by the key {public.keyid[:16]}…, and its files are these{_left_open(signed)}"
    wanted = f"the folder as it was signed, with its {path.name} and the key" if path.exists() else path.name
    remedy = f"ask who published it for {wanted}" if problem else ""
    return Check("attestation", "fail" if problem else "pass", REQUIRED, observed, code=CODE, remedy=remedy)


def _left_open(signed: dict[str, Any]) -> str:
    """Return what was not checked before the statement was signed; those of earlier releases do not say it."""
    names = signed["predicate"].get(NOT_CHECKED)
    if not isinstance(names, list):
        return "; it does not say what was not checked when it was signed"
    return f"; not checked when it was signed: {listed(list(map(str, names)))}" if names else ""


def _problem(folder: Path, path: Path, key: Any, read: dict[str, Any]) -> str:
    """Return what is wrong; else an empty text, and the signed statement in `read`."""
    if not path.exists() and not path.is_symlink():
        return f"there is no {path.name} beside the folder"
    signed, fault = read_signed(parsed(document(path), path), key, PREDICATE_TYPE, path)
    if fault:
        return fault
    read.update(signed)
    return _other_result(folder, signed)


def _other_result(folder: Path, signed: dict[str, Any]) -> str:
    """Return how the folder differs from what was signed; empty where it does not."""
    subjects, predicate = subjects_of(signed), signed.get("predicate")
    if not isinstance(predicate, dict):
        return "the signed statement can't be read: it has no predicate"
    own = sha256_of(folder / manifest.NAME)
    if subjects.get(manifest.NAME) != own:
        return f"it attests another result, or the manifest was changed: {subjects.get(manifest.NAME)} against {own}"
    files = {**manifest.read(folder / manifest.NAME)[0], manifest.NAME: own}
    if subjects != files:
        name = min(subjects.items() ^ files.items())[0]
        return f"what was signed and what the manifest has differ in {name}"
    if wrong := manifest.differences(folder):
        return f"the folder is not as its manifest says: {'; '.join(wrong)}"
    for name, value in _predicate(open_result(folder).metrics).items():
        if predicate.get(name) != value:
            return f"the signed statement says {name} {predicate.get(name)!r}, metrics.json {value!r}"
    return ""


def conclude_attested(examined: Audit, key: Path) -> Conclusion:
    """Return how the signing ends: what was signed, what of it nobody checked, and how others verify it."""
    folder, found = shlex.quote(str(examined.folder)), outcome(examined.checks)
    left = [name.partition(" ")[2] for name in unchecked(examined)]
    belief = f"when signed its audit said: {found}"
    if left and found.word not in ("not checked", "holds, not committed"):
        belief += f", and not checked: {listed(left)}"
    return Conclusion(
        f"Signed every file of {examined.folder}",
        belief,
        f"recallbench audit {folder} --require-attestation {shlex.quote(str(key))}{PUBLIC}",
        TONES[found.word],
    )


def _predicate(metrics: Metrics) -> dict[str, Any]:
    return {
        "protocol": metrics.protocol.version,
        "protocol_sha256": metrics.protocol.sha256,
        "clarifications_sha256": metrics.protocol.clarifications_sha256,
        "corpus": metrics.corpus.name,
        "dataset_sha256": metrics.dataset_sha256,
        "embedder": metrics.embedder.name if metrics.embedder else None,
        "store": metrics.store.name,
        "store_version": metrics.store.version,
        "deviations": [f"{deviation.kind}: {deviation.detail}" for deviation in metrics.deviations],
        "measures": headline_figures(metrics),
    }


def write_attestation(path: Path, text: str, what: str) -> Path:
    """Write an envelope beside what it is about; none is ever overwritten."""
    with write_errors(
        f"{path} can't be written",
        expected="a folder that may be written to",
        remedy=f"copy {what} to such a place, and attest it there",
    ):
        try:
            write_whole(path, text, overwrite=False, mode=0o644, synced=True)
        except FileExistsError:
            raise UsageError(
                f"{path} exists already",
                expected="nothing beside it yet: no attestation is ever overwritten",
                remedy=f"move it away to attest {what} anew",
            ) from None
    return path
