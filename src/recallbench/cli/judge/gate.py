"""`recallbench gate`: results held to the thresholds of a settings file, for CI."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import click

from recallbench.cli import options
from recallbench.cli.command import PATH, VARIABLES, argument, choice, command, flag, option
from recallbench.escaping.document import plain
from recallbench.escaping.terminal import visible
from recallbench.reports.table import Part, print_parts

if TYPE_CHECKING:
    from recallbench.compare.thresholds_file import ThresholdsFile
    from recallbench.reports.thresholds import Gating

EPILOG = (
    "Examples: recallbench gate; recallbench gate --format markdown > gate.md; recallbench gate nightly=out/today; "
    "recallbench gate --update. Exit codes: 0 every threshold holds, 1 one falls short, 2 the file or a folder "
    "can't be used or a threshold is out of reach, 3 a result is not there. Other results are shown all the same. "
    + VARIABLES
)


@command(
    argument("results", "A folder to take for a result, in place of the file's.", nargs=-1, metavar="[[NAME=]DIR...]"),
    click.option(
        "--config",
        type=PATH,
        default=Path("recallbench.toml"),
        help="The file that names results and their thresholds.",
    ),
    option("pipeline", "A pipeline's file: every result must have been made by it.", type=PATH),
    option(
        "latency",
        "A folder of `recallbench latency` that tells of p95_at_load, in place of the file's.",
        multiple=True,
        metavar="[NAME=]DIR",
    ),
    choice("format", "How the table is printed.", ["text", "markdown", "json"], default="text"),
    flag("update", "Store each result as its baseline; check no threshold."),
    flag("replace", "With --update: replace a baseline that is there."),
    options.QUIET,
    epilog=EPILOG,
)
def gate(
    results: tuple[str, ...],
    config: Path,
    pipeline: Path | None,
    latency: tuple[str, ...],
    format: str,
    update: bool,
    replace: bool,
    quiet: bool,
) -> int:
    """Check results against thresholds, and exit 1 where one falls short.

    The file has a table [result.NAME] for each result. Its keys are folder (a pattern means its latest match),
    at_least, drops (against a baseline, by the paired comparison), abstention (auroc at least, false_retrieval at
    most), p95_ms, p95_ratio (to the baseline's p95, on the same hardware), p95_at_load ({rate, ms}: the upper bound of
    the p95 at so many questions a second, by the study that `latency` names), pipeline (the file that it was made by),
    kinds, abilities and tenants. Each folder is checked before its figures are used. A threshold that not even an
    oracle could reach is an error, listed with the others. thresholds = "recommended" sets the four that teams use:
    precision@10(retrieved) .80, recall_frac@10 .70, ndcg@10 .85 and mrr@10 .90.
    """
    from recallbench.cli.bars import listener
    from recallbench.compare import thresholds
    from recallbench.compare.thresholds_file import read_thresholds
    from recallbench.errors import UsageError
    from recallbench.reports import thresholds as report

    if replace and not update:
        raise UsageError("--replace goes with --update", expected="both", found="--replace alone")
    file = read_thresholds(config)
    if pipeline is not None:
        file = file.with_pipeline(pipeline.absolute())
    folders, studies = _folders_by_name(file, results), _folders_by_name(file, latency)
    if update:
        return _update(file, config.parent, folders, replace)
    environ = dict(os.environ)
    gating = thresholds.gate(
        file, config.parent, folders, environ, listener(quiet), today=date.today(), studies=studies
    )
    if format == "json":
        print(plain(gating.model_dump_json(indent=1)))
    elif format == "markdown":
        print(report.markdown(gating), end="")
    else:
        print_parts(*_parts(gating))
    beyond = thresholds.unreachable(gating)
    if beyond is not None:
        print(f"recallbench: {beyond}", file=sys.stderr)
    for missing in gating.missing:
        lines = (f"{missing.result}: {missing.problem}", f"  found: {missing.found}", f"  what to do: {missing.remedy}")
        print("recallbench: " + "\n".join(map(visible, lines)), file=sys.stderr)
    if beyond is not None:
        return beyond.exit_code
    return 3 if gating.missing else 0 if gating.passed else 1


def _folders_by_name(file: ThresholdsFile, words: Sequence[str]) -> dict[str, Path]:
    from recallbench.errors import UsageError

    folders: dict[str, Path] = {}
    for word in words:
        name, equals, place = word.partition("=")
        if not equals or name not in file.result:
            name, place = (next(iter(file.result)) if len(file.result) == 1 else "", word)
        if not name or not place or name in folders:
            raise UsageError(
                f"{word!r} does not say which result it is",
                expected=" or ".join(f"{name}=DIR" for name in file.result) + ", each once",
                found=word,
                remedy=f"recallbench gate {next(iter(file.result))}=DIR",
            )
        folders[name] = Path(place)
    return folders


def _update(file: ThresholdsFile, base: Path, folders: dict[str, Path], replace: bool) -> int:
    from recallbench.compare.baseline import store
    from recallbench.compare.thresholds import open_gated
    from recallbench.errors import UsageError

    baselines = {name: entry.baseline for name, entry in file.result.items() if entry.baseline is not None}
    if not baselines:
        raise UsageError(
            "no result of the file has a baseline", expected='baseline = "DIR"', remedy="say where to keep it"
        )
    # All are looked at before the first is stored.
    opened = [open_gated(name, file.result[name], base, folders.get(name), baseline=False) for name in baselines]
    for gated in opened:
        place = base / str(baselines[gated.name])
        print(f"{gated.name}: {gated.folder} as baseline {place}: {store(gated.folder, place, replace=replace)}")
    return 0


def _parts(gating: Gating) -> list[Part]:
    from recallbench.reports import thresholds as report

    parts: list[Part] = list(report.sources(gating))
    for title, thresholds in report.sections(gating).items():
        parts += ["", f"{title}:", report.table(thresholds)]
    return [*parts, "", report.verdict(gating)]
