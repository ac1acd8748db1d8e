"""`recallbench cite`: the release note's text for a result, and the check of such texts."""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from recallbench.cli import options
from recallbench.cli.command import EPILOG, PATH, argument, command, flag, option
from recallbench.escaping.terminal import visible

if TYPE_CHECKING:
    from recallbench.audit.audit import Audit
    from recallbench.progress import Progress

EXAMPLES = (
    "Examples: recallbench cite benchmarks/locomo/results/0.21.0_20261118 --previous "
    "benchmarks/locomo/results/0.20.0_20261101\n\nrecallbench cite --check README.md\n\n"
)


@command(
    argument("folder", "A result folder.", required=False, metavar="[DIR]", type=PATH),
    option("previous", "The result of the release before, to compare it with.", metavar="DIR", type=PATH),
    flag("as-deviation", "Cite a VERIFIED result that deviates, in words that say so first."),
    option("history", "Where deviations are on record [default: the HISTORY.md nearest above the folder].", type=PATH),
    option("check", "Compare every figure of this text with the folder it names.", metavar="FILE", type=PATH),
    option("corpus-file", "The dataset, for the audit; repeat it for several.", multiple=True, type=PATH),
    flag("markdown", "Print measures, folders and hashes in code marks."),
    options.JSON,
    options.QUIET,
    options.CONFIG,
    epilog=EXAMPLES + EPILOG,
)
def cite(
    folder: Path | None,
    previous: Path | None,
    as_deviation: bool,
    history: Path | None,
    check: Path | None,
    corpus_file: tuple[Path, ...],
    markdown: bool,
    as_json: bool,
    quiet: bool,
) -> int:
    """Print the release note's text for a CANONICAL result, or say why it can't be cited (exit 1).

    The result is audited first. With --check, every figure in a release note or README is compared with the folder that
    the text names for it. A figure that was altered, or that no folder supports, is listed with its line (exit 1); one
    that can't be placed is listed as not checkable.
    """
    from recallbench.citing import citation
    from recallbench.cli.bars import listener
    from recallbench.errors import UsageError
    from recallbench.results.result import open_with_manifest

    progress = listener(quiet)

    def examine(place: Path) -> Audit:
        return _audited(place, corpus_file, progress)

    if (folder is None) == (check is None):
        raise UsageError(
            "one thing at a time",
            expected="a result folder to cite, or --check FILE",
            found="neither" if folder is None else "both",
            remedy="recallbench cite DIR, or recallbench cite --check FILE",
        )
    of_folders = {"--previous": previous, "--as-deviation": as_deviation, "--history": history, "--markdown": markdown}
    chosen = [name for name, value in of_folders.items() if value]
    if check is not None and chosen:
        raise UsageError(
            f"{chosen[0]} is for a result folder, not for --check",
            expected="--check FILE, with --corpus-file and --json at most",
            found=f"--check with {', '.join(chosen)}",
        )
    if history is not None and not as_deviation:
        raise UsageError("--history goes with --as-deviation", expected="both", found="--history alone")
    if markdown and as_json:
        raise UsageError("--markdown and --json are two forms of one output", expected="one of them", found="both")
    if check is not None:
        return _check(check, examine, as_json)
    assert folder is not None
    try:
        folders = [place for place in (folder, previous) if place is not None]
        sides = [citation.AuditedResult(open_with_manifest(place), examine(place)) for place in folders]
        cited = citation.cite(sides[0], *sides[1:], as_deviation=as_deviation, history=history)
    except citation.NotCitable as refused:
        if not as_json:
            raise
        print(json.dumps({"citable": False, "folder": str(folder), "reasons": refused.reasons}, indent=1))
        return 1
    print(json.dumps(citation.document(cited), indent=1) if as_json else citation.text(cited, markdown))
    return 0


def _audited(place: Path, corpus_files: Sequence[Path], progress: Progress) -> Audit:
    from recallbench.audit.audit import audit

    return audit(place, corpus_files=corpus_files, environ=dict(os.environ), progress=progress)


def _check(file: Path, examine: Callable[[Path], Audit], as_json: bool) -> int:
    from recallbench.citing import citation_check

    checked = citation_check.check(file, examine)
    wrong = [entry for entry in checked if entry.wrong]
    if as_json:
        listed = [
            {
                "line": entry.figure.line,
                "names": [name.text for name in entry.figure.names],
                "value": entry.figure.value,
                "role": entry.figure.role,
                "folders": [folder.text for folder in entry.figure.folders],
                "status": entry.status,
                "problems": list(entry.problems),
            }
            for entry in checked
        ]
        print(json.dumps({"file": str(file), "figures": listed, "holds": not wrong}, indent=1))
        return 1 if wrong else 0
    alike: dict[tuple[int, str, str], list[str]] = {}
    for entry in checked:
        if entry.problems:
            alike.setdefault((entry.figure.line, entry.status, "; ".join(entry.problems)), []).append(entry.title)
    for (line, status, problems), titles in alike.items():
        print(visible(f"{file}:{line}: {status}: {', '.join(titles)}: {problems}"))
    if not checked:
        print(f"recallbench: {file} has no figure of a measure", file=sys.stderr)
    counts = Counter(entry.status for entry in checked)
    more = f", {counts['not checkable']} can't be checked" if counts["not checkable"] else ""
    figures = f"{len(checked)} figure{'' if len(checked) == 1 else 's'}"
    print(f"{file}: {figures}, {counts['agrees']} agree with their folders{more}, {len(wrong)} do not hold")
    return 1 if wrong else 0
