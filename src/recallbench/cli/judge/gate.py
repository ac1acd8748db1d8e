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
from recallbench.cli.command import PATH, VARIABLES, argument, command, flag, option
from recallbench.cli.printing import show
from recallbench.escaping.terminal import visible
from recallbench.reports.printing.printed import Format, Printed
from recallbench.reports.table import Part

if TYPE_CHECKING:
    from recallbench.compare.thresholds_file import ThresholdsFile
    from recallbench.reports.thresholds import Gating
    from recallbench.results.result import Result

EPILOG = (
    "Examples: recallbench gate results/today --init; recallbench gate; recallbench gate --format markdown > gate.md; "
    "recallbench gate nightly=out/today; recallbench gate --update. Exit codes: 0 every threshold holds, 1 one falls "
    "short, 2 the file or a folder can't be used, a threshold is out of reach, or --init could write floors alone, 3 a "
    "result is not there. Other results are shown all the same. " + VARIABLES
)


@command(
    argument(
        "results",
        "A folder to take for a result, in place of the file's; NAME is as in [result.NAME] of the file.",
        nargs=-1,
        metavar="[[NAME=]DIR...]",
    ),
    click.option(
        "--config",
        type=PATH,
        default=Path("recallbench.toml"),
        help="The file that names results and their thresholds.",
    ),
    flag("init", "Write that file, with thresholds that fit the results named here; it must not exist yet."),
    option("pipeline", "A pipeline's file: every result must have been made by it.", type=PATH),
    option(
        "latency",
        "A folder of `recallbench latency` that tells of p95_at_load, in place of the file's.",
        multiple=True,
        metavar="[NAME=]DIR",
    ),
    *options.FORMAT,
    flag("update", "Store each result as its baseline; check no threshold."),
    flag("replace", "With --update: replace a baseline that is there."),
    options.QUIET,
    epilog=EPILOG,
)
def gate(
    results: tuple[str, ...],
    config: Path,
    init: bool,
    pipeline: Path | None,
    latency: tuple[str, ...],
    format: Format,
    update: bool,
    replace: bool,
    quiet: bool,
) -> int:
    """Check results against thresholds, and exit 1 where one falls short.

    A threshold holds, falls short, or can't be told; the last fails where the result is `strict`. The file has a table
    [result.NAME] for each result. Its keys are folder (a pattern means its latest match), at_least, drops (against a
    baseline, by the paired comparison), allow (what may differ from the baseline: embedder, store, pipeline), strict,
    abstention (auroc at least, false_retrieval at most), p95_ms, p95_ratio (to the baseline's p95, on the same
    hardware), p95_at_load ({rate, ms}: the upper bound of the p95 at so many questions a second, by the study that
    `latency` names), pipeline (the file that it was made by), kinds, abilities and tenants. Each folder is checked
    before its figures are used. A threshold that not even an oracle could reach is an error, listed with the others.
    thresholds = "recommended" sets four to begin with, which are no standard: precision@10(retrieved) .80,
    recall_frac@10 .70, ndcg@10 .85 and mrr@10 .90.
    """
    from recallbench.cli.bars import listener
    from recallbench.compare import thresholds
    from recallbench.compare.conclusions.gating import conclude_gate
    from recallbench.compare.thresholds_file import read_thresholds
    from recallbench.errors import UsageError
    from recallbench.reports import thresholds as report

    if replace and not update:
        raise UsageError("--replace goes with --update", expected="both", found="--replace alone")
    if init:
        if update or pipeline is not None or latency:
            raise UsageError("--init writes a file and checks nothing", expected="gate RESULT --init, and --config")
        return _init(results, config, format)
    file = read_thresholds(config)
    if pipeline is not None:
        file = file.with_pipeline(pipeline.absolute())
    folders, studies = _folders_by_name(file, config, results), _folders_by_name(file, config, latency)
    if update:
        return _update(file, config, folders, replace, format)
    environ = dict(os.environ)
    gating = thresholds.gate(file, config, folders, environ, listener(quiet), today=date.today(), studies=studies)
    printed = Printed(
        "Gate",
        _parts(gating),
        gating.model_dump(mode="json"),
        conclude_gate(gating, str(config)),
        own_markdown=report.markdown(gating),
        own_sheet=report.sheet(gating),
    )
    show(printed, format)
    beyond = thresholds.unreachable(gating)
    if beyond is not None:
        print(f"recallbench: {beyond}", file=sys.stderr)
    for missing in gating.missing:
        lines = (f"{missing.result}: {missing.problem}", f"  found: {missing.found}", f"  what to do: {missing.remedy}")
        print("recallbench: " + "\n".join(map(visible, lines)), file=sys.stderr)
    if beyond is not None:
        return beyond.exit_code
    return 3 if gating.missing else 0 if gating.passed else 1


def _init(words: Sequence[str], config: Path, format: Format) -> int:
    from recallbench.compare.baseline import store
    from recallbench.compare.conclusions.fitting import conclude_fitting, fitted_parts
    from recallbench.compare.fitted.file import FittedResult, file_text, name_of, place_of
    from recallbench.compare.fitted.thresholds import fit
    from recallbench.errors import InputError, UsageError
    from recallbench.results.result import open_unchanged
    from recallbench.whole_file import check_place, write_output

    if not words:
        raise UsageError(
            "--init fits thresholds to a result, and none is named",
            expected="a result folder",
            found="none",
            remedy="recallbench gate results/today --init",
        )
    if config.exists():
        raise InputError(
            f"{config} is there already",
            expected="no file of that name",
            found="one, which stays as it is",
            remedy="move it away, or write another: --config FILE",
        )
    check_place(config)
    fitted: dict[str, FittedResult] = {}
    for word in words:
        name, equals, place = word.partition("=")
        folder = Path(word if not equals or Path(word).exists() else place)
        result = open_unchanged(folder)
        chosen = name if equals and folder != Path(word) else name_of(result)
        if chosen in fitted:
            raise UsageError(
                f"two results are called {chosen}", expected="NAME=DIR for each", found=word, remedy=f"OTHER={folder}"
            )
        fitted[chosen] = FittedResult(chosen, result, fit(result), place_of(result, config.parent))
    several = list(fitted.values())
    # All are looked at before anything is written.
    for each in several:
        if each.baseline is not None:
            _refuse_other_baseline(each.result, config.parent / each.baseline)
    text = file_text(several)
    stored = [
        f"{each.name}: baseline {place}: {store(each.result.folder, place, replace=False)}"
        for each in several
        if each.baseline is not None
        for place in [config.parent / each.baseline]
    ]
    write_output(config, text, overwrite=False)
    floors_alone = [each.name for each in several if each.baseline is None]
    document = {
        "file": str(config),
        "results": [each.name for each in several],
        "floors_alone": floors_alone,
        "text": text,
    }
    parts = fitted_parts(several, stored)
    show(Printed("Thresholds", parts, document, conclude_fitting(several, str(config))), format)
    return 2 if floors_alone else 0


def _refuse_other_baseline(result: Result, place: Path) -> None:
    from recallbench.errors import InputError
    from recallbench.results.result import open_result

    if place.exists() and open_result(place).content_sha256 != result.content_sha256:
        raise InputError(
            f"{place} holds another baseline",
            expected=f"no such folder, or content {result.content_sha256[:12]}",
            found=f"content {open_result(place).content_sha256[:12]}",
            remedy=f"move it away, or give the result another name: OTHER={result.folder}",
        )


def _folders_by_name(file: ThresholdsFile, config: Path, words: Sequence[str]) -> dict[str, Path]:
    from recallbench.compare.gate_command import gate_command
    from recallbench.errors import UsageError
    from recallbench.nearest_name import nearest_name

    folders: dict[str, Path] = {}
    for word in words:
        name, equals, place = word.partition("=")
        if equals and name not in file.result and not Path(word).exists():
            near = nearest_name(name, file.result) or next(iter(file.result))
            raise UsageError(
                f"{config} has no result `{name}`",
                expected=f"one of {', '.join(file.result)}",
                found=word,
                remedy=gate_command(str(config), f"{near}={place}"),
            )
        if not equals or name not in file.result:
            name, place = (next(iter(file.result)) if len(file.result) == 1 else "", word)
        if not name or not place or name in folders:
            raise UsageError(
                f"{word!r} does not say which result it is",
                expected=" or ".join(f"{name}=DIR" for name in file.result) + ", each once",
                found=word,
                remedy=gate_command(str(config), f"{next(iter(file.result))}=DIR"),
            )
        folders[name] = Path(place)
    return folders


def _update(file: ThresholdsFile, config: Path, folders: dict[str, Path], replace: bool, format: Format) -> int:
    from recallbench.compare.baseline import store
    from recallbench.compare.conclusions.gating import conclude_update
    from recallbench.compare.thresholds import open_gated
    from recallbench.errors import UsageError

    baselines = {name: entry.baseline for name, entry in file.result.items() if entry.baseline is not None}
    if not baselines:
        raise UsageError(
            "no result of the file has a baseline", expected='baseline = "DIR"', remedy="say where to keep it"
        )
    base, named = config.parent, str(config)
    # All are looked at before the first is stored.
    opened = [open_gated(name, file.result[name], config, folders.get(name), baseline=False) for name in baselines]
    lines = [
        f"{gated.name}: {gated.folder} as baseline {place}: {store(gated.folder, place, replace=replace, config=named)}"
        for gated in opened
        for place in [base / str(baselines[gated.name])]
    ]
    document = {"baselines": {gated.name: str(base / str(baselines[gated.name])) for gated in opened}}
    show(Printed("Baselines", lines, document, conclude_update(list(baselines), named)), format)
    return 0


def _parts(gating: Gating) -> list[Part]:
    from recallbench.reports import thresholds as report

    parts: list[Part] = list(report.sources(gating))
    for title, thresholds in report.titled_sections(gating):
        parts += ["", f"{title}:", report.table(thresholds)]
    return parts
