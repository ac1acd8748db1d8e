"""`recallbench audit`: decide result folders again."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recallbench.cli import options
from recallbench.cli.command import PATH, argument, command, flag, option
from recallbench.cli.engine_options import ENGINE, take_engine
from recallbench.cli.printing import conclude, show
from recallbench.escaping.terminal import visible_lines
from recallbench.reports.printing.printed import Format, Printed
from recallbench.reports.table import Part, print_parts

if TYPE_CHECKING:
    from recallbench.audit.audit import Audit
    from recallbench.audit.gate import Check
    from recallbench.cluster.engine import Engine
    from recallbench.errors import RecallBenchError
    from recallbench.progress import Progress

EPILOG = (
    "Exit codes: 0 every folder holds, 1 one does not, is not committed or not checked, 2 one is no result folder. "
    "--explain says of each check by its code what it looks at."
)


@command(
    argument("folders", "Result folders, of this tool or others.", nargs=-1, metavar="[DIR...]", type=PATH),
    option(
        "corpus-file",
        "The dataset; repeat it for several [default: found by variable or data folder].",
        multiple=True,
        type=PATH,
    ),
    flag(
        "rerun-control/--no-rerun-control",
        "Rank BM25 again from the dataset [default: up to 5,000 segments; LongMemEval takes half a minute].",
        default=None,
    ),
    options.CACHE_DIR,
    *options.FORMAT,
    flag("publish", "Also require that HISTORY.md names every deviation (RB-HISTORY)."),
    option("history", "The HISTORY.md for --publish [default: the nearest above the folder].", type=PATH),
    option(
        "require-attestation",
        "Also require an attestation beside the folder, signed by the owner of this public key.",
        metavar="KEY",
        type=PATH,
    ),
    flag("failures", "Leave out what passes, in every format."),
    flag(
        "verbose",
        "Show every check, in every format, and for a folder of another tool each published number with its "
        "definition.",
    ),
    option(
        "explain",
        "Say when the check of this code passes, and what it means when it fails; `all` says it of every check.",
        metavar="CODE",
        multiple=True,
    ),
    options.LABELS,
    *ENGINE,
    options.QUIET,
    options.CONFIG,
    epilog=EPILOG,
)
def audit(
    folders: tuple[Path, ...],
    corpus_file: tuple[Path, ...],
    rerun_control: bool | None,
    cache_dir: Path | None,
    format: Format,
    publish: bool,
    history: Path | None,
    require_attestation: Path | None,
    failures: bool,
    verbose: bool,
    explain: tuple[str, ...],
    labels: bool,
    quiet: bool,
    **of_engine: Any,
) -> int:
    """Work out every figure again from rankings and dataset, check it all, and say in a word whether the folder holds.

    The words are: holds; holds, not committed; not checked; does not hold; blocked. Beside them stand the labels of the
    protocol, for what may have one.
    """
    from recallbench.audit.conclusion import conclude_audits
    from recallbench.audit.listing import ToldChecks, document, lines, table, tells_labels, told_checks
    from recallbench.errors import RecallBenchError, UsageError

    if explain:
        from recallbench.audit.explanation import explained

        if folders:
            raise UsageError(
                "one thing at a time", expected="DIR... or --explain CODE", found="both", remedy="leave out the folders"
            )
        show(explained(explain), format)
        return 0
    if not folders:
        raise UsageError(
            "no folder is named",
            expected="result folders, or --explain CODE",
            remedy="recallbench audit DIR, with the folder that `recallbench run` printed",
        )
    missing = [file for file in corpus_file if not file.exists()]
    if missing:
        raise UsageError(
            f"there is no {missing[0]}", expected="--corpus-file of a dataset that exists", found="no such file"
        )
    if history is not None and not publish:
        raise UsageError("--history goes with --publish", expected="both", found="--history alone")
    from recallbench.cli.bars import listener

    progress = listener(quiet)
    audits: list[tuple[Audit, ToldChecks]] = []
    documents: list[dict[str, Any]] = []
    parts: list[Part] = []
    codes = []
    made = _made_on_nodes(take_engine(of_engine), folders, corpus_file, rerun_control, cache_dir, progress)
    for folder in folders:
        try:
            came = made.get(folder)
            if isinstance(came, RecallBenchError):
                raise came
            examined = came or _examined(folder, corpus_file, rerun_control, cache_dir, progress)
            if publish:
                examined = examined.with_check(_on_record(examined, history))
            if require_attestation is not None:
                from recallbench.citing.attestation import attested

                examined = examined.with_check(attested(folder, require_attestation))
        except (RecallBenchError, OSError) as error:
            codes.append(error.exit_code if isinstance(error, RecallBenchError) else 2)
            problem = visible_lines(str(error))
            documents.append({"folder": str(folder), "word": None, "verdict": None, "error": problem})
            print(f"recallbench: {problem}", file=sys.stderr)
            continue
        codes.append(0 if examined.verdict.label == "VERIFIED" else 1)
        checks = told_checks(examined, every=verbose, failures=failures)
        audits.append((examined, checks))
        documents.append(document(examined, failures=failures))
        asked = labels or verbose or publish or tells_labels(examined)
        if format == "text":
            print_parts(*lines(examined, labels=asked, checks=checks))  # a folder may take minutes
        else:
            parts += lines(examined, labels=asked)  # the table has the checks
    conclusion = conclude_audits([examined for examined, _ in audits], len(folders) - len(audits))
    if format != "text":
        sheet = table(audits)
        show(Printed("Audit", [*parts, sheet], {"audits": documents}, conclusion, own_sheet=sheet), format)
    elif conclusion is not None:
        conclude(conclusion)
    return max(codes)


def _made_on_nodes(
    engine: Engine,
    folders: Sequence[Path],
    corpus_files: Sequence[Path],
    rerun_control: bool | None,
    cache_dir: Path | None,
    progress: Progress,
) -> dict[Path, Audit | RecallBenchError]:
    """Return what nodes of a cluster say of the folders of this tool; nothing where all is done in this process."""
    if not engine.on_nodes:
        return {}
    from recallbench.foreign.layouts.registry import find_layout

    own: dict[Path, Path] = {}
    for folder in folders:
        with suppress(OSError):  # a name that can't be one: told when its turn comes
            if folder.is_dir() and find_layout(folder) is None:
                own[folder] = folder.resolve()
    if not own:
        return {}
    from recallbench.audit.on_nodes import AuditJob, audit_on_nodes

    files, kept = tuple(file.resolve() for file in corpus_files), (cache_dir or options.default_cache()).resolve()
    came = audit_on_nodes(AuditJob(tuple(own.values()), files, rerun_control, kept), engine, progress)
    return {
        folder: replace(found, folder=folder) if not isinstance(found, Exception) else found
        for folder, whole in own.items()
        if (found := came.get(whole)) is not None
    }


def _examined(
    folder: Path, corpus_files: Sequence[Path], rerun_control: bool | None, cache_dir: Path | None, progress: Progress
) -> Audit:
    """Return the audit of a folder of this tool, or of one in another tool's layout."""
    from recallbench.audit.audit import audit
    from recallbench.audit.kept_audits import KeptAudits, audit_and_keep
    from recallbench.foreign.audit import audit_foreign
    from recallbench.foreign.layouts.registry import find_layout

    environ = dict(os.environ)
    if folder.is_dir() and find_layout(folder) is not None:
        return audit_foreign(folder, corpus_files, environ)
    if rerun_control is None:
        kept = KeptAudits(cache_dir or options.default_cache())
        return audit_and_keep(
            folder, kept, corpus_files=corpus_files, environ=environ, progress=progress, cache_dir=cache_dir
        )
    return audit(
        folder,
        corpus_files=corpus_files,
        environ=environ,
        rerun_control=rerun_control,
        progress=progress,
        cache_dir=cache_dir,
    )


def _on_record(examined: Audit, history: Path | None) -> Check:
    from recallbench.citing.publication import published

    return published(examined.deviations, examined.corpus, examined.folder, history)
