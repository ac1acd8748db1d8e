"""The commands in the panels of the help; each is imported when it is called."""

from __future__ import annotations

from importlib import import_module
from typing import NamedTuple

import click

from recallbench import __version__
from recallbench.cli.command import Commands


class HelpPanel(NamedTuple):
    """Commands that the help lists together: their folder in `cli`, and a summary of each."""

    folder: str
    summaries: dict[str, str]


PANELS = {
    "Measure": HelpPanel(
        "measure",
        {
            "run": "Measure a store on a corpus and write a result folder that proves the number.",
            "evaluate": (
                "Measure a store on your own questions and answers, and write a result folder that proves the number."
            ),
            "repeat": (
                "Measure N times on a cold index and N times on a warm one: the spread of each measure, and its "
                "allowed band."
            ),
            "versions": "Measure versions of pgmnemo alike, each in a database of its own, and compare neighbours.",
            "grow": (
                "Add documents that answer nothing to every haystack, ask again, and show recall and p95 "
                "against the size."
            ),
            "latency": (
                "Ask a store under load, closed loop and open loop: p50, p95, p99 and throughput, with the recall of "
                "the answers."
            ),
            "sweep": (
                "Measure points of a grid, a list or a random draw over pipeline, store, encoder and k, and choose "
                "among them."
            ),
            "matrix": "Measure every encoder on every corpus, and tell which differences are real.",
        },
    ),
    "Look": HelpPanel(
        "look",
        {
            "table": "Show results side by side, best first: who finds more, and who can't be told apart.",
            "report": "Write a page for a result beside its folder, as DIR.html: picture, kinds, latency, failures.",
            "site": (
                "Write a static site: a board of audited results, their history, pictures, sweeps, and what is kept "
                "out."
            ),
            "stages": "List the stages that a pipeline can have, or show what each stage of a result's pipeline did.",
            "costs": (
                "Show what a result used (ingest, index, query, generate), and what that costs: a query, a find, a "
                "right answer."
            ),
            "export": (
                "Hand results to other programs: Prometheus, Postgres with Grafana, files of Parquet, a dataset for "
                "the hub."
            ),
        },
    ),
    "Judge": HelpPanel(
        "judge",
        {
            "audit": (
                "Work out every figure again from rankings and dataset, check it all, and say in a word whether the "
                "folder holds."
            ),
            "score": (
                "Score rankings made elsewhere: a table by query, its mean with intervals, and what an oracle could "
                "reach."
            ),
            "compare": (
                "Compare two results question by question: B minus A, with interval, exact test and what changed most."
            ),
            "gate": ("Check results against thresholds, and exit 1 where one falls short."),
            "drift": "Follow a measure over stored results, earliest first, with its intervals, and flag a trend.",
            "multiverse": (
                "Score one set of rankings under every definition, scope and denominator, and find published "
                "numbers there."
            ),
            "cite": "Print the release note's text for a CANONICAL result, or say why it can't be cited (exit 1).",
            "attest": (
                "Sign every file of a result by its hash; the envelope lies beside the folder, as DIR.attestation.json."
            ),
            "keys": (
                "Make an Ed25519 pair: NAME signs and stays with you (mode 0600), NAME.pub goes to whoever verifies."
            ),
            "history": "Add a dated entry to HISTORY.md, with an impact table where two results are named.",
            "parity": (
                "Compare the measures with pytrec_eval-terrier and ir_measures on random, tie-heavy, graded and "
                "partial runs."
            ),
        },
    ),
    "Own data": HelpPanel(
        "own_data",
        {
            "label": (
                "Put documents forward for each query, and save the label (y, n or a grade) of each key at once."
            ),
            "sample": (
                "Draw a stratified, seeded sample of logged recalls to label; later score the log itself by "
                "these labels."
            ),
            "canary": (
                "Draw 100 to 300 questions of your own set like production asks: a small set to measure every day."
            ),
        },
    ),
    "Set-up": HelpPanel(
        "setup",
        {
            "doctor": "List what a real run needs, whether it is here, and how long it takes.",
            "fetch": "Download a corpus or an encoder at its pinned revision and check every hash.",
            "vectors": "Portable vectors: those of a corpus as one file, made on one machine and used on others.",
            "corpora": "List the corpora, with their size and licence.",
            "stores": "List the stores; of one, what can be set of it with --set NAME=VALUE.",
            "embedders": "List the encoders, and whether each is here.",
            "measures": "List the measures, each with what it counts.",
            "completion": (
                "Print the script that lets a shell complete commands, options and names; its last line says where it "
                "goes."
            ),
        },
    ),
}
COMMANDS = {name: panel.folder for panel in PANELS.values() for name in panel.summaries}
LISTINGS = ("corpora", "stores", "embedders", "measures")
"""Commands that share a module."""


class Program(Commands):
    """The program itself, which knows its commands by name and summary until one is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module_name = "listings" if cmd_name in LISTINGS else cmd_name
        module = import_module(f"recallbench.cli.{COMMANDS[cmd_name]}.{module_name}")
        command: click.Command = getattr(module, cmd_name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(map(len, COMMANDS))
        for title, panel in PANELS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), summary) for name, summary in panel.summaries.items()])


WORDS = """corpus     questions and what each is answered from: `recallbench corpora` lists them, your own is a folder
haystack   what one question is answered from: the sessions of a conversation, the documents of a scope
store      the memory under test: one that comes along, a class of yours, or a server
encoder    what makes vectors of texts, for a store that searches by them
protocol   the frozen rules of a measurement: corpora, settings, and what is counted
gate       one thing that the protocol requires, such as known files; also `gate`, with thresholds of yours
deviation  whatever a result was made otherwise in than the protocol says; the result names it
VERIFIED   a result that holds every gate of the protocol, such as known files and a seed
CANONICAL  VERIFIED, and made in nothing otherwise than the protocol says
pgmnemo    the memory in Postgres that the protocol was written for; any other is measured alike"""


@click.group(
    cls=Program,
    help="Measures how well a long-term memory finds the right memory, and leaves a folder that proves the number.\n\n"
    "A first run that needs nothing else: recallbench run canary-locomo --store bm25. What one with an encoder "
    "needs: recallbench doctor locomo --embedder minilm.",
    epilog=f"Exit codes: 0 done, 1 `gate`, `audit` or something that you required failed, 2 wrong usage or unreadable "
    f"input, 3 something is missing, 130 interrupted.\n\n\b\n{WORDS}",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
@click.version_option(
    __version__, prog_name="recallbench", message="%(prog)s %(version)s", help="Print the version and exit."
)
def program() -> None:
    """Check the frozen protocol: no command runs under a changed one."""
    from recallbench.protocol.frozen import load

    load()
