"""`recallbench audit`: decide result folders again."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recallbench.cli import options
from recallbench.cli.command import PATH, argument, command, flag, option
from recallbench.escaping.terminal import visible, visible_lines

if TYPE_CHECKING:
    from recallbench.audit.audit import Audit
    from recallbench.audit.gate import Check
    from recallbench.progress import Progress

EPILOG = (
    "Exit codes: 0 every folder is VERIFIED, 1 one is not or can't be decided, 2 one is no result folder. "
    "benchmarks/AUDIT.md explains each check by its code."
)


@command(
    argument(
        "folders", "Result folders, of this tool or others.", nargs=-1, required=True, metavar="DIR...", type=PATH
    ),
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
    flag("json", "Print one JSON document, for programs.", "as_json"),
    flag("publish", "Also require that HISTORY.md names every deviation (RB-HISTORY)."),
    option("history", "The HISTORY.md for --publish [default: the nearest above the folder].", type=PATH),
    option(
        "require-attestation",
        "Also require an attestation beside the folder, signed by the owner of this public key.",
        metavar="KEY",
        type=PATH,
    ),
    flag("failures", "Show only what did not pass, and the verdict."),
    flag("verbose", "For a folder of another tool: show each published number with its definition."),
    options.QUIET,
    options.CONFIG,
    epilog=EPILOG,
)
def audit(
    folders: tuple[Path, ...],
    corpus_file: tuple[Path, ...],
    rerun_control: bool | None,
    cache_dir: Path | None,
    as_json: bool,
    publish: bool,
    history: Path | None,
    require_attestation: Path | None,
    failures: bool,
    verbose: bool,
    quiet: bool,
) -> int:
    """Work out every figure again from rankings and dataset, check it all, and say what the result may be called."""
    from recallbench.errors import RecallBenchError, UsageError

    missing = [file for file in corpus_file if not file.exists()]
    if missing:
        raise UsageError(
            f"there is no {missing[0]}", expected="--corpus-file of a dataset that exists", found="no such file"
        )
    if history is not None and not publish:
        raise UsageError("--history goes with --publish", expected="both", found="--history alone")
    from recallbench.cli.bars import listener

    progress = listener(quiet)
    done: list[dict[str, Any]] = []
    codes = []
    for folder in folders:
        try:
            examined = _examined(folder, corpus_file, rerun_control, cache_dir, progress)
            if publish:
                examined = examined.with_check(_on_record(examined, history))
            if require_attestation is not None:
                from recallbench.citing.attestation import attested

                examined = examined.with_check(attested(folder, require_attestation))
        except (RecallBenchError, OSError) as error:
            codes.append(error.exit_code if isinstance(error, RecallBenchError) else 2)
            problem = visible_lines(str(error))
            done.append({"folder": str(folder), "verdict": None, "error": problem})
            print(f"recallbench: {problem}", file=sys.stderr)
            continue
        codes.append(0 if examined.verdict.label == "VERIFIED" else 1)
        done.append(_document(examined, failures))
        if not as_json:
            print("\n".join(visible(line) for line in _lines(examined, failures, verbose)), flush=True)
    if as_json:
        print(json.dumps({"audits": done}, indent=1))
    return max(codes)


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


def _lines(examined: Audit, failures: bool, verbose: bool) -> list[str]:
    from recallbench.audit.checks.ranges import recorded_words
    from recallbench.corpora.labelled_sets.set_name import short_names

    lines = [*examined.summary, "", str(examined.folder)] if examined.summary else [str(examined.folder)]
    claims = sum(_is_claim(check) for check in examined.checks)
    width = max(len(check.code) for check in examined.checks)
    previous = ""
    for check in examined.checks:
        if (check.status == "pass" and failures) or (_is_claim(check) and not verbose):
            continue
        aside = "" if check.needed else " (a result may do without)"
        lines.append(f"  {check.status:<11} {check.code:<{width}} {check.name}: {check.observed}{aside}")
        # Of many claims that fall short of the same requirement, the first says what it is.
        if check.status != "pass" and check.code + check.required != previous:
            previous = check.code + check.required
            lines.append(f"  {'':<11} {'':<{width}} required: {check.required}")
    if claims and not verbose:
        lines.append(f"  {claims} published numbers are traced one by one with --verbose")
    lines += [short_names(f"  deviation   {deviation}") for deviation in examined.deviations]
    if examined.recorded:
        lines.append(f"  {recorded_words(examined.recorded)}")
    lines.append(f"  verdict: {examined.verdict.text}, {'' if examined.verdict.canonical else 'not '}CANONICAL")
    return lines


def _is_claim(check: Check) -> bool:
    return check.code == "RB-F-CLAIM"


def _document(examined: Audit, failures: bool) -> dict[str, Any]:
    return {
        "folder": str(examined.folder),
        "verdict": examined.verdict.label,
        "text": examined.verdict.text,
        "canonical": examined.verdict.canonical,
        "summary": list(examined.summary),
        "deviations": list(examined.deviations),
        "recorded": list(examined.recorded),
        "checks": [
            {
                "code": check.code,
                "name": check.name,
                "status": check.status,
                "needed": check.needed,
                "required": check.required,
                "observed": check.observed,
            }
            for check in examined.checks
            if not failures or check.status != "pass"
        ],
    }
