"""Write docs/reference: a page for each command, made from the program itself and from the guides that use it.

Usage: .venv/bin/python scripts/make_reference.py [FOLDER]
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import click

from recallbench.cli.command import EPILOG, VARIABLES
from recallbench.cli.program import PANELS, program

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "reference"
COMMAND = ".venv/bin/python scripts/make_reference.py"
NOTE = f"<!-- Made by `{COMMAND}` from the program's help and the guides: edit those. -->"
EXAMPLES_SHOWN = 6
FROM_ONE_GUIDE = 3
VARIABLES_NAMED = r"\$?\b((?:PGMNEMO|LOCOMO|LONGMEMEVAL|RECALLBENCH|HF|NEO4J)_[A-Z_]*[A-Z])\b"


def pages() -> dict[str, str]:
    """Return the text of every page, by its file's name."""
    made = {"README.md": index()}
    for name in (name for panel in PANELS.values() for name in panel.summaries):
        made[f"{name}.md"] = page(name)
    return made


def index() -> str:
    """Return the page that lists the others."""
    lines = [
        "# Reference",
        "",
        NOTE,
        "",
        "One page for each command: what it does, its options with their defaults, examples. "
        "`--help` behind a command prints the same. [Settings](../settings.md) has what holds for all of them: "
        "settings files, variables, exit codes.",
    ]
    for title, panel in PANELS.items():
        lines += ["", f"## {title}", "", "| command | what it does |", "|---|---|"]
        lines += [f"| [`recallbench {name}`]({name}.md) | {cell(text)} |" for name, text in panel.summaries.items()]
    return "\n".join(lines) + "\n"


def page(name: str) -> str:
    """Return the page of a command, those within it included."""
    parent = click.Context(program, info_name="recallbench")
    command = program.get_command(parent, name)
    assert command is not None
    context = within(command, name, parent)
    parts = [f"# recallbench {name}", NOTE, *described(command, context)]
    if isinstance(command, click.Group):
        for inner in command.list_commands(context):
            nested = command.get_command(context, inner)
            assert nested is not None
            below = within(nested, inner, context)
            parts += [f"## recallbench {name} {inner}", *described(nested, below, "###")]
    else:
        parts += remarks(command)
    shown = [*examples(name)]
    parts += ["## Examples", *shown] if shown else []
    return "\n\n".join(parts) + "\n"


def within(command: click.Command, name: str, parent: click.Context) -> click.Context:
    """Return the context in which a command prints its help."""
    return click.Context(command, info_name=name, parent=parent, **command.context_settings)


def described(command: click.Command, context: click.Context, level: str = "##") -> Iterator[str]:
    """Yield what a command does, its usage, and a table of its arguments and options."""
    yield from paragraphs(command.help or "")
    usage = " ".join(command.collect_usage_pieces(context))
    yield f"    {context.command_path} {usage}"
    arguments = [param for param in command.params if isinstance(param, click.Argument)]
    if rows := [record(param, context) for param in arguments]:
        yield f"{level} Arguments"
        yield table("argument", rows)
    recorder = Recorder()
    command.format_options(context, recorder)
    for title, rows in recorder.groups.items():
        shown = [row for row in rows if "--help" not in row[0]]
        if shown and title != "Positional arguments":
            yield f"{level} {title}"
            yield table("option", shown)


class Recorder(click.HelpFormatter):
    """Keeps what the help lists, group by group, in place of laying it out."""

    def __init__(self) -> None:
        super().__init__()
        self.groups: dict[str, list[tuple[str, str]]] = {}

    def write_heading(self, heading: str) -> None:
        """Begin a group."""
        self.groups[heading] = []

    def write_dl(self, rows: Iterable[tuple[str, str]], *_args: object, **_more: object) -> None:
        """Keep the rows of the group that was begun last."""
        list(self.groups.values())[-1].extend(rows)


def record(param: click.Parameter, context: click.Context) -> tuple[str, str]:
    """Return how an argument is written, and its help."""
    shown = param.get_help_record(context)
    return shown if shown is not None else (param.make_metavar(context), "")


def table(what: str, rows: list[tuple[str, str]]) -> str:
    """Return a table of parameters."""
    lines = [f"| {what} | what it is |", "|---|---|"]
    return "\n".join(lines + [f"| {code(written)} | {cell(said)} |" for written, said in rows])


def remarks(command: click.Command) -> Iterator[str]:
    """Yield what the help says of exit codes and variables."""
    parts = [command.help or "", *(param.help or "" for param in command.params if isinstance(param, click.Option))]
    said = " ".join(inspect.cleandoc(part).replace("\n", " ") for part in parts)
    rest = re.sub(r"Examples?: .*?(?=Exit codes:|$)", "", own_epilog(command), flags=re.DOTALL).strip()
    yield "## Exit codes"
    if "Exit codes:" in rest:
        yield cell(rest[rest.index("Exit codes:") :])
    else:
        yield "0 where it did what was asked; the others are [those of every command](../settings.md#exit-codes)."
    yield "## Variables"
    options = [param for param in command.params if isinstance(param, click.Option) and param.envvar]
    for param in options[:1]:
        (variable, *_) = param.envvar or ()
        yield f"Every option has one: that of `{param.opts[0]}` is `{variable}`."
    yield "[Those of every command](../settings.md#variables) hold here, too."
    if named := sorted(set(re.findall(VARIABLES_NAMED, said))):
        yield f"Named above: {', '.join(f'`{name}`' for name in named)}."


def own_epilog(command: click.Command) -> str:
    """Return the end of the help without what every command says of variables."""
    text = command.epilog or ""
    for common in (EPILOG, VARIABLES):
        text = text.replace(common, "")
    return text.strip()


def examples(name: str) -> Iterator[str]:
    """Yield commands of the guides, each under a link to its guide."""
    shown: set[str] = set()
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        found = [line for line in command_lines(path) if line.split()[1] == name and line not in shown]
        if found := [*dict.fromkeys(found)][: min(FROM_ONE_GUIDE, EXAMPLES_SHOWN - len(shown))]:
            shown |= {*found}
            title = path.read_text("utf-8").splitlines()[0].removeprefix("# ")
            above = "../../" if path.parent == ROOT else "../"
            yield f"From [{title}]({above}{path.name}):"
            yield "```console\n" + "\n".join(found) + "\n```"


def command_lines(path: Path) -> Iterator[str]:
    """Yield the commands of a document's shell blocks that are the program's own, without their comments."""
    for body in re.findall(r"^```sh\n(.*?)^```$", path.read_text("utf-8"), re.MULTILINE | re.DOTALL):
        for line in body.replace("\\\n", " ").splitlines():
            plain = " ".join(re.sub(r"\s+# .*", "", line).split())
            if re.match(r"recallbench [a-z]", plain):
                yield plain


def paragraphs(text: str) -> Iterator[str]:
    """Yield the paragraphs of a docstring, each on one line."""
    for paragraph in inspect.cleandoc(text).split("\n\n"):
        yield " ".join(paragraph.split())


def cell(text: str) -> str:
    """Return a text for one cell of a table."""
    return re.sub(r"<([A-Z]+)>", r"&lt;\1&gt;", " ".join(text.split()).replace("|", "\\|").replace("*", "\\*"))


def code(text: str) -> str:
    """Return a text in code marks for one cell of a table."""
    return "`" + text.replace("|", "\\|") + "`"


def main(folder: Path) -> None:
    """Write the pages, and remove those of commands that are gone."""
    folder.mkdir(parents=True, exist_ok=True)
    made = pages()
    for old in folder.glob("*.md"):
        if old.name not in made:
            old.unlink()
    for name, text in made.items():
        (folder / name).write_text(text, "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
