"""`recallbench cite`: the release note's text for a result, and the check of such texts."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from recallbench.cli import options
from recallbench.cli.command import ALIAS, EPILOG, PATH, argument, command, flag, option, typed
from recallbench.cli.printing import conclude, show
from recallbench.reports.printing.printed import Format, Printed

if TYPE_CHECKING:
    from recallbench.audit.audit import Audit
    from recallbench.citing.citation import AuditedResult
    from recallbench.progress import Progress

EXAMPLES = (
    "Examples: recallbench cite benchmarks/locomo/results/0.21.0_20261118 --previous "
    "benchmarks/locomo/results/0.20.0_20261101; recallbench cite --check README.md docs; recallbench cite --template."
    "\n\n"
    "A text says where figures without a folder are from in a comment, which holds up to the end of its section: "
    "<!-- recallbench: figures from data/cells.csv --> (a table beside the text, which they are compared with: right "
    "only where its row names a result folder that is there), or commands (which stand there and measure the corpus "
    "that is named, but are not run: not checkable), others (who published them elsewhere) "
    "or samples (tables of output: no claims) in its place.\n\n"
)
_FOR_A_FOLDER = ("previous", "as_deviation", "history")


@command(
    argument(
        "places",
        "A result folder; with --check the texts, or folders of Markdown.",
        nargs=-1,
        metavar="[DIR | FILE...]",
        type=PATH,
    ),
    option("previous", "The result of the release before, to compare it with.", metavar="DIR", type=PATH),
    flag("as-deviation", "Cite a VERIFIED result that deviates, in words that say so first."),
    option("history", "Where deviations are on record [default: the HISTORY.md nearest above the folder].", type=PATH),
    flag("template", "Print the protocol's own form of a citation, filled from the folder where one is named."),
    flag("check", "Compare every figure of these texts with the folder that the text names for it."),
    flag("strict", "With --check: exit 1 for every figure that is not right."),
    option("corpus-file", "The dataset, for the audit; repeat it for several.", multiple=True, type=PATH),
    *options.FORMAT,
    flag("markdown", "The same as --format markdown: measures, folders and hashes in code marks.", ALIAS + "markdown"),
    options.QUIET,
    options.CONFIG,
    epilog=EXAMPLES + EPILOG,
)
def cite(
    places: tuple[Path, ...],
    previous: Path | None,
    as_deviation: bool,
    history: Path | None,
    template: bool,
    check: bool,
    strict: bool,
    corpus_file: tuple[Path, ...],
    format: Format,
    quiet: bool,
) -> int:
    """Print the release note's text for a CANONICAL result, or say why it can't be cited (exit 1).

    The result is audited first. With --check, every figure in release notes, READMEs and folders of Markdown is
    compared with the folder that the text names for it, and is one of: right; right but undisclosed (the text lacks
    what a citation has to tell); wrong; not checkable; no folder named. Where a folder is named, "at least .95", "about
    .95" and "up to .95" are held to it; thresholds and targets without one are no claims, nor is sample output. Exits
    with 1 for what is wrong, undisclosed, without a folder and without a word on where it is from, or of a folder that
    can't be audited here; with --strict for all that is not right.
    """
    from recallbench.cli.bars import listener
    from recallbench.errors import UsageError

    progress = listener(quiet)

    @cache
    def examine(place: Path) -> Audit:
        return _audited(place, corpus_file, progress)

    if check and template:
        raise UsageError("one thing at a time", expected="--check or --template", found="both")
    if check:
        if not places:
            raise UsageError(
                "no text is named", expected="--check FILE...", remedy="recallbench cite --check README.md docs"
            )
        if (for_a_folder := typed(*_FOR_A_FOLDER)) is not None:
            raise UsageError(
                f"{for_a_folder} is for a result folder, not for --check",
                expected="--check FILE... with --strict, --corpus-file and --format at most",
                found=f"--check with {for_a_folder}",
            )
        return _check(places, examine, strict, format)
    if strict and typed("strict"):
        raise UsageError("--strict goes with --check", expected="both", found="--strict alone")
    if len(places) > 1 or not (places or template):
        raise UsageError(
            "one thing at a time",
            expected="a result folder to cite, or --check FILE..., or --template",
            found=", ".join(map(str, places)) or "neither",
            remedy="recallbench cite DIR, or recallbench cite --check FILE",
        )
    if template:
        if (for_a_citation := typed(*_FOR_A_FOLDER)) is not None:
            raise UsageError(f"{for_a_citation} is not for --template", expected="--template, or --template DIR")
        return _template(places, examine, format)
    if history is not None and not as_deviation:
        raise UsageError("--history goes with --as-deviation", expected="both", found="--history alone")
    before = None if previous is None else _opened(previous, examine)
    return _cite(_opened(places[0], examine), before, as_deviation, history, format)


def _opened(place: Path, examine: Callable[[Path], Audit]) -> AuditedResult:
    from recallbench.citing.citation import AuditedResult
    from recallbench.results.folder import not_a_result
    from recallbench.results.result import open_with_manifest

    if place.is_file():
        raise not_a_result(place, "a file", f"for a text: recallbench cite --check {shlex.quote(str(place))}")
    return AuditedResult(open_with_manifest(place), examine(place))


def _audited(place: Path, corpus_files: Sequence[Path], progress: Progress) -> Audit:
    from recallbench.audit.audit import audit

    return audit(place, corpus_files=corpus_files, environ=dict(os.environ), progress=progress)


def _cite(
    side: AuditedResult, previous: AuditedResult | None, as_deviation: bool, history: Path | None, format: Format
) -> int:
    from recallbench.citing import citation
    from recallbench.citing.conclusions import conclusion_against, conclusion_of

    try:
        cited = citation.cite(side, previous, as_deviation=as_deviation, history=history)
    except citation.NotCitable as refused:
        against = conclusion_against(refused, side, as_deviation, history)
        if format == "json":
            folder = str(side.result.folder)
            document = {"citable": False, "folder": folder, "reasons": refused.reasons}
            show(Printed("", (), document, against), format)
        else:
            # Nothing on stdout: what goes into a release note is a citation, or empty.
            print(f"recallbench: {refused}", file=sys.stderr)
            conclude(against, sys.stderr)
        return 1
    text = citation.text(cited, markdown=format == "markdown")
    title = f"Citation of {side.path}"
    _show(
        Printed(
            title,
            text.splitlines(),
            citation.document(cited),
            conclusion_of(cited),
            text,
            own_sheet=citation.sheet(cited),
        ),
        format,
    )
    return 0


def _template(places: Sequence[Path], examine: Callable[[Path], Audit], format: Format) -> int:
    from recallbench.citing import template

    side = _opened(places[0], examine) if places else None
    text = template.template(side, markdown=format == "markdown")
    _show(
        Printed(
            "The form of a citation",
            text.splitlines(),
            template.document(side),
            template.conclusion(side),
            text,
            own_sheet=template.sheet(),
        ),
        format,
    )
    return 0


def _show(printed: Printed, format: Format) -> None:
    """Print what is to be pasted; its last line goes to stderr, so that no release note gets it."""
    if format in ("text", "markdown"):
        print(printed.own_markdown, flush=True)
        if printed.conclusion is not None:
            conclude(printed.conclusion, sys.stderr)
    else:
        show(printed, format)


def _check(places: Sequence[Path], examine: Callable[[Path], Audit], strict: bool, format: Format) -> int:
    from recallbench.citing import check_report, citation_check
    from recallbench.citing.markdown_files import markdown_files

    texts = check_report.CheckedTexts(
        {file: citation_check.check(file, examine) for file in markdown_files(places)}, strict
    )
    show(check_report.printed(texts), format)
    return 1 if texts.failing else 0
