"""The folder itself: its files, their hashes, and that nobody writes to it during the audit."""

from recallbench.audit.examination import Examination, one_line, pass_unless
from recallbench.audit.gate import Finding
from recallbench.audit.subject import AuditSubject
from recallbench.errors import InputError
from recallbench.reading import regular, state
from recallbench.reports.reproduction import JSON_NAME, PAGE_NAME
from recallbench.reports.result_page import PAGE
from recallbench.results.answers import NAME as ANSWERS
from recallbench.results.manifest import NAME as MANIFEST
from recallbench.results.manifest import differences
from recallbench.results.retrievals import CONTROL_RUN, GRADED, NAMES, STATIC_RUN
from recallbench.results.stages import NAME as STAGES

ALWAYS = (
    "environment.json",
    MANIFEST,
    "metrics.json",
    "qrels.trec",
    "raw_retrievals.jsonl",
    "report.md",
    CONTROL_RUN,
    "run.trec",
    "timings.jsonl",
)
SOMETIMES = (JSON_NAME, PAGE_NAME, GRADED, NAMES, PAGE)


def files(subject: AuditSubject) -> Finding:
    present = {path.name for path in subject.folder.iterdir()}
    problems = [f"{name} is missing" for name in ALWAYS if name not in present]
    sometimes = {*SOMETIMES, *([STAGES] if subject.metrics.pipeline is not None else [])}
    sometimes |= {STATIC_RUN} if subject.metrics.control_static is not None else set()
    sometimes |= {ANSWERS} if subject.metrics.answers is not None else set()
    problems += [f"{name} is no part of a result" for name in sorted(present - {*ALWAYS, *sometimes})]
    for name in sorted(present):
        try:
            regular(subject.folder / name, subject.folder)
        except InputError as error:
            problems.append(one_line(error))
    return pass_unless(problems, f"{len(present)} files, each one a result has")


def manifest(subject: AuditSubject) -> Finding:
    return pass_unless(differences(subject.folder), "all hashes agree")


def unchanged(subject: AuditSubject) -> Finding:
    now = {path.name: state(path) for path in sorted(subject.folder.iterdir()) if path.is_file()}
    changed = sorted(name for name in {*now, *subject.states} if now.get(name) != subject.states.get(name))
    return pass_unless([f"{name} changed during the audit" for name in changed], "nothing was written during the audit")


FILES = Examination("RB-FILES", "files", "the files of a result and no others, no link that leaves the folder", files)
SEALED = Examination("RB-MANIFEST", "manifest", "every file has the hash the manifest states", manifest)
UNCHANGED = Examination("RB-UNCHANGED", "unchanged", "the folder stays as it is while it is read", unchanged)
