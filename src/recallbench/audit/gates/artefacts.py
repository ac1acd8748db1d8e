"""The three artefacts are there, and git holds every file of the folder as it is."""

import hashlib
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from recallbench.audit.gate import Finding, Gate, GateEvidence
from recallbench.results.result import repository

ARTEFACTS = ("metrics.json", "report.md", "raw_retrievals.jsonl")
NO_REPOSITORY = "the folder is in no git repository with a commit"


def check(evidence: GateEvidence) -> Finding:
    if evidence.folder is None:
        return Finding("pending", "written, but not yet in git", awaits="committed")
    return committed(evidence.folder, ARTEFACTS)


def committed(folder: Path, artefacts: Sequence[str]) -> Finding:
    """Find whether the artefacts are there, and the folder is as in git's last commit."""
    missing = [name for name in artefacts if not (folder / name).is_file()]
    if missing:
        return Finding("fail", f"missing: {', '.join(missing)}")
    if shutil.which("git") is None:
        return Finding("cannot-tell", "git is not installed, so nothing says whether the files are committed")
    if repository(folder.resolve()) is None:
        return Finding("pending", NO_REPOSITORY, awaits="committed")
    words = ["ls-tree", "-z", "HEAD", "./"]
    # The repository may be anybody's: no configuration, index or filter of it is used.
    git = subprocess.run(
        ["git", "--no-replace-objects", "-C", str(folder), "-c", "core.fsmonitor=false", *words],
        capture_output=True,
        check=False,
        env={name: value for name, value in os.environ.items() if not name.startswith("GIT_")},
    )
    if git.returncode:
        message = " ".join(git.stderr.decode("utf-8", "replace").split())
        if "dubious ownership" in message:
            return Finding("cannot-tell", f"git refuses to look: {message[:200]}")
        return Finding("pending", NO_REPOSITORY, awaits="committed")
    blobs = dict(_entry(line) for line in git.stdout.decode("utf-8", "replace").split("\0") if line)
    present = {path.name for path in folder.iterdir()}
    if absent := sorted(present - blobs.keys()):
        return Finding("pending", f"not committed: {', '.join(absent)}", awaits="committed")
    if lost := sorted(blobs.keys() - present):
        return Finding("fail", f"committed, but gone: {', '.join(lost)}")
    changed = sorted(name for name, blob in blobs.items() if _blob(folder / name, len(blob)) != blob)
    if changed:
        return Finding("fail", f"changed since they were committed: {', '.join(changed)}")
    return Finding("pass", f"all {len(blobs)} files committed and unchanged")


def _entry(line: str) -> tuple[str, str]:
    facts, _, name = line.partition("\t")
    return name, facts.split()[2]


def _blob(path: Path, digits: int) -> str:
    """Return git's hash of the file's content; computed here, since git can be set to overlook a change."""
    if path.is_symlink() or not path.is_file():
        return "not a file"
    hashed = hashlib.new("sha1" if digits == 40 else "sha256", usedforsecurity=False)
    with path.open("rb") as file:
        hashed.update(b"blob %d\0" % path.stat().st_size)
        while chunk := file.read(1 << 20):
            hashed.update(chunk)
    return hashed.hexdigest()


GATE = Gate("artefacts present", check, "RB-COMMITTED")
"""`pending` while only a commit is missing."""
