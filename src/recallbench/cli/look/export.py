"""`recallbench export TARGET`: results handed to other programs; a target declares its own options."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import click

from recallbench.cli import options
from recallbench.cli.command import EPILOG, PATH, Commands, Declaration, argument, command, former, option
from recallbench.cli.printing import conclude, show
from recallbench.escaping.terminal import visible
from recallbench.exports.export_target import ExportRequest, ExportTarget
from recallbench.exports.registry import TARGETS, find_target
from recallbench.reports.printing.printed import Format, Printed
from recallbench.reports.table import Table


class ExportGroup(Commands):
    """The targets by their names; each is imported when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(TARGETS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return _command(find_target(cmd_name)) if cmd_name in TARGETS else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Targets"):
            formatter.write_dl([(name, find_target(name).summary) for name in TARGETS])


@click.group(
    cls=ExportGroup,
    epilog="Exit codes: 0 done, 2 nothing could be read or wrong usage, 3 a server or package is missing. A folder "
    "that is no result is named with the reason, and the others go on.",
)
def export() -> int:
    """Hand results to other programs: Prometheus, Postgres with Grafana, files of Parquet, a dataset for the hub."""
    return 0


def _command(target: ExportTarget) -> click.Command:
    """Return the command of a target, from what it declares."""

    def run(format: Format, folders: tuple[Path, ...] = (), quiet: bool = False, **values: Any) -> int:
        return _export(target, folders, quiet, format, values)

    run.__doc__ = "\n\n".join(filter(None, (target.summary, target.details)))
    run.__name__ = target.name
    declared: list[Declaration] = []
    if target.reads_folders:
        what = "Folders of results, of latency studies or of sweeps."
        declared.append(argument("folders", what, nargs=-1, required=True, metavar="DIR...", type=PATH))
    for each in target.options:
        kind = PATH if each.kind == "path" else str
        declared.append(option(each.name, each.help, type=kind, default=each.default))
        if each.former:
            declared.append(former(each.former, each.name, type=kind))
    if target.reads_folders:
        declared += [options.PRICES, options.QUIET]
    return command(*declared, *options.FORMAT, options.CONFIG, epilog=f"Example: {target.example}. {EPILOG}")(run)


def _export(
    target: ExportTarget, folders: tuple[Path, ...], quiet: bool, format: Format, values: dict[str, Any]
) -> int:
    from recallbench.cli.bars import listener

    prices = values.pop("prices", None)
    named = {name.replace("_", "-"): value for name, value in values.items() if value is not None}
    done = target.export(
        ExportRequest(
            folders=folders,
            texts={name: value for name, value in named.items() if isinstance(value, str)},
            paths={name: value for name, value in named.items() if isinstance(value, Path)},
            prices=prices,
            environ=dict(os.environ),
            progress=listener(quiet),
        )
    )
    for folder, reason in done.recorded.left_out:
        print(f"recallbench: {visible(f'{folder} was left out: {reason}')}", file=sys.stderr)
    if done.recorded.repeated:
        print(f"recallbench: folders whose run another one brought: {done.recorded.repeated}", file=sys.stderr)
    if format != "text":
        left_out = [{"folder": str(folder), "reason": reason} for folder, reason in done.recorded.left_out]
        document = {"target": target.name, "sentences": done.sentences, "left_out": left_out}
        if done.document:
            document["document"] = done.document
        told = [done.ending.happened, *done.sentences]
        sheet = Table(("what happened",), [(sentence,) for sentence in told])
        show(Printed(target.summary, done.sentences, document, done.ending, own_sheet=sheet), format)
        return 0
    # What is meant for a file or a pipe stays alone there.
    stream = sys.stderr if done.document else sys.stdout
    print(done.document, end="")
    for sentence in done.sentences:
        print(visible(sentence), file=stream)
    conclude(done.ending, stream, apart=bool(done.sentences))
    return 0
