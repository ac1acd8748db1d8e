"""The audit of another tool's folder: the definitions that its published numbers follow."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from recallbench.audit.audit import Audit
from recallbench.audit.decision import decide
from recallbench.audit.gate import Check
from recallbench.audit.gates.artefacts import committed
from recallbench.errors import InputError
from recallbench.foreign.case import CODES, ForeignCase, check, corpus_rules, index_of, passed_unless
from recallbench.foreign.claims import check_claims
from recallbench.foreign.corpus_index import named_sessions
from recallbench.foreign.layouts import pgmnemo, trec
from recallbench.foreign.layouts.layout import Imported
from recallbench.foreign.layouts.registry import described_layouts, find_layout
from recallbench.foreign.reports import check_reports
from recallbench.foreign.rescoring import rescore
from recallbench.foreign.rows import check_rows
from recallbench.foreign.summary import summarise
from recallbench.foreign.table_comparison import compare_tables
from recallbench.foreign.tables import TableNumbers, read_reports, table_numbers, unread_files
from recallbench.foreign.version import check_version
from recallbench.protocol.frozen import load
from recallbench.results.dataset import file_with_hash
from recallbench.results.folder import BLOCKED

__all__ = ["CODES", "audit_foreign"]

_FACTS = ("dataset_sha256", "pgmnemo_version", "seed", "guc_state")
_DEPRECATED = "DEPRECATED.md"


def audit_foreign(folder: Path, corpus_files: Sequence[Path], environ: Mapping[str, str]) -> Audit:
    """Check a foreign folder; raises InputError when no layout fits it. It never writes there."""
    layout = find_layout(folder)
    if layout is None and (folder / BLOCKED).exists():
        blocked = _blocked(folder)
        return Audit(folder, (blocked,), decide((blocked,), ()), ("layout: nothing but that it is blocked",))
    if layout is None:
        raise InputError(
            f"{folder} is not in a form that this tool reads",
            expected=described_layouts(),
            found=", ".join(sorted(path.name for path in folder.iterdir())[:8]) if folder.is_dir() else "no folder",
            remedy="name the folder that holds these files",
        )
    deviations = (f"layout: {layout.name}, not written by this tool",)
    blocked = _blocked(folder)
    try:
        imported = layout.read(folder)
    except InputError as error:
        rows_unreadable = check("RB-F-ROWS", "rows readable", "fail", f"{error.problem}: {error.found}")
        return Audit(folder, (blocked, rows_unreadable), decide((blocked, rows_unreadable), deviations), deviations)
    rules = load()
    corpus_file = file_with_hash(corpus_files, imported.facts.get("dataset_sha256", ""))
    corpus = corpus_rules(imported, corpus_file, rules)
    dataset, why = index_of(imported, corpus_file, rules, environ)
    if dataset is not None:
        imported = named_sessions(imported, dataset)
    tables, unreadable = _tables(folder, imported)
    case = ForeignCase(
        imported,
        rescore(imported, dataset),
        dataset,
        corpus,
        rules,
        why,
        tables,
        compare_tables(tables.figures, imported.claims),
        unreadable,
    )
    looks = (_check_facts, check_version, check_rows, check_claims, check_reports)
    checks = (blocked, _committed(folder), *(check for look in looks for check in _guarded(look, case)))
    name = corpus.name if corpus is not None else ""
    audit = Audit(folder, checks, decide(checks, deviations), deviations, corpus=name)
    return replace(audit, summary=summarise(audit))


def _tables(folder: Path, imported: Imported) -> tuple[TableNumbers, str]:
    """Return the figures in the tables of the reports, and the error of an unreadable report."""
    others = unread_files(folder, (imported.rows, pgmnemo.METRICS))
    try:
        # The plain texts of a TREC folder are its runs.
        tables = table_numbers(read_reports(folder, plain_texts=imported.layout != trec.NAME))
    except InputError as error:
        return TableNumbers(loose=others), f"{error.problem}: {error.found}"
    return replace(tables, loose=tables.loose + others), ""


def _guarded(look: Callable[[ForeignCase], Iterator[Check]], case: ForeignCase) -> Iterator[Check]:
    """Yield a group of checks; where one breaks down, a failed check replaces the rest of the group."""
    try:
        yield from look(case)
    except Exception as error:  # noqa: BLE001 - a check that a hostile folder breaks has not passed
        text = f"{type(error).__name__}: {error}".replace("\n", " ")[:300]
        what = look.__name__.strip("_").removeprefix("check_")
        yield check("RB-F-BROKEN", "checks made", "fail", f"one of the {what} broke down: {text}")


def _blocked(folder: Path) -> Check:
    names = [name for name in (BLOCKED, _DEPRECATED) if (folder / name).exists() or (folder / name).is_symlink()]
    # `decide` knows this check by its name.
    return passed_unless("RB-F-BLOCKED", "BLOCKED absent", [f"{name} is there" for name in names], "neither is there")


def _committed(folder: Path) -> Check:
    finding = committed(folder, ())
    return Check(
        "files committed", finding.status, CODES["RB-F-COMMITTED"], finding.observed, finding.awaits, "RB-F-COMMITTED"
    )


def _check_facts(case: ForeignCase) -> Iterator[Check]:
    stated = case.imported.facts
    missing = [name for name in _FACTS if name not in stated]
    text = ", ".join(f"{name} {stated[name]}" for name in ("version", *_FACTS[1:]) if name in stated)
    yield check(
        "RB-F-FACTS",
        "facts stated",
        "fail" if missing else "pass",
        (f"not stated: {', '.join(missing)}" if missing else "all stated") + (f"; stated: {text}" if text else ""),
    )
    hash, corpus = stated.get("dataset_sha256", ""), case.corpus
    if not hash or corpus is None:
        yield check("RB-F-DATASET", "dataset hash", "cannot-tell", "no dataset hash is stated")
    else:
        yield check("RB-F-DATASET", "dataset hash", "pass" if hash == corpus.sha256 else "fail", hash, corpus.sha256)
    if case.dataset is None:
        yield check("RB-F-CORPUS", "corpus file", "cannot-tell", case.why_no_dataset)
    else:
        right = case.dataset.registered
        yield check("RB-F-CORPUS", "corpus file", "pass" if right else "fail", f"sha256 {case.dataset.sha256}")
