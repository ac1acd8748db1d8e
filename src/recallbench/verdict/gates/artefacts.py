"""The three artefacts are there, and git holds them as they are."""

import shutil
import subprocess

from recallbench.verdict.gate import Evidence, Finding, Gate

ARTEFACTS = ("metrics.json", "report.md", "raw_retrievals.jsonl")


def check(evidence: Evidence) -> Finding:
    folder = evidence.folder
    if folder is None:
        return Finding("pending", "written, but not yet in git", awaits="committed")
    missing = [name for name in ARTEFACTS if not (folder / name).is_file()]
    if missing:
        return Finding("fail", f"missing: {', '.join(missing)}")
    if shutil.which("git") is None:
        return Finding("cannot-tell", "git is not installed, so nothing says whether the files are committed")
    asked = subprocess.run(
        ["git", "-C", str(folder), "ls-tree", "--name-only", "HEAD", "./"], capture_output=True, text=True, check=False
    )
    if asked.returncode:
        return Finding("pending", "the folder is in no git repository with a commit", awaits="committed")
    absent = sorted({path.name for path in folder.iterdir()} - set(asked.stdout.splitlines()))
    if absent:
        return Finding("pending", f"not committed: {', '.join(absent)}", awaits="committed")
    changed = subprocess.run(
        ["git", "-C", str(folder), "diff", "--name-only", "--relative", "HEAD", "--", "."],
        capture_output=True,
        text=True,
        check=False,
    )
    if changed.returncode:
        return Finding("cannot-tell", f"git diff failed: {changed.stderr.strip()}")
    if changed.stdout.strip():
        return Finding("fail", f"changed since they were committed: {', '.join(changed.stdout.split())}")
    return Finding("pass", f"all {len(asked.stdout.splitlines())} files committed and unchanged")


GATE = Gate("artefacts present", check)
