"""The commands of the documents that are not executed as they stand: with what instead, by which test, or why not."""

from __future__ import annotations

import re
from collections.abc import Mapping

from documents.shell_blocks import Line

INSTALLS = "installs packages: tests/test_wheel.py installs the wheel, tests/test_setup.py makes and holds the lists"
ITSELF = "sets up a checkout, or runs all tests, this one among them"
GITHUB = "asks GitHub for a release, and for who signed it: none is public"
HUB = "fetches what only the hub has, and is held to its hash; executed without the hub, where it is to be refused"
CANONICAL = "wants weights that only the hub has; executed without them, where it is to be refused"
GIGABYTE = (
    "needs a gigabyte of weights, and most of a second for each text, however short; "
    "tests/embedding/kinds/test_gguf_encoder.py runs them where they are in the cache"
)
MEASURES = "times this machine, which must do nothing else, for minutes to hours; a test imports each of these programs"

LEFT_OUT: Mapping[str, str] = {
    r"pip install .*": INSTALLS,
    r"scripts/(run|test)": ITSELF,
    r"gh (release download|attestation verify) .*": GITHUB,
    r"recallbench fetch (longmemeval|bge-m3|dragon-plus)": HUB,
    r"recallbench fetch (longmemeval && recallbench fetch bge-m3|locomo && recallbench fetch dragon-plus)": HUB,
    r"recallbench (doctor|run (locomo|longmemeval) --dry-run) --strict": CANONICAL,
    r"recallbench fetch nomic|recallbench (run|matrix) .*\bnomic\b.*": GIGABYTE,
    r"\.venv/bin/python benchmarks/performance.*": MEASURES,
}
"""Whole commands, as patterns, that no test executes to a good end."""

MIRRORED = r"(for corpus in .*; do )?recallbench fetch (locomo|realtalk|realmem|beam-100k|\$corpus; done)"
"""Commands that a test of their own executes, which has a mirror."""

WEIGHTS = ("wordllama", "minilm-l3", "minilm-sre", "mpnet")
"""Encoders of which only packages of the package index have the weights."""

ELSEWHERE: Mapping[str, str] = {
    "docs/dashboards.md": "tests/documents/test_dashboards_guide.py",
    "docs/least-privilege.md": "tests/documents/test_role_guide.py",
    "docs/first-figures.md": "tests/documents/test_document_figures.py",
    "docs/scale.md": "tests/test_scaling.py",
    "benchmarks/RANKERS.md": "tests/test_rankers_page.py",
}
"""Documents whose commands another test executes: they want servers of their own, or each figure is looked at."""

NODES = "tests/cluster/test_real_nodes.py"
ADDRESS = r"--ray-address 10\.0\.0\.1:6379"
BY_ADDRESS = "*of_nodes(nodes)"
OTHERWISE: Mapping[str, tuple[str, ...]] = {
    rf"recallbench run .* {ADDRESS}": (
        f"{NODES}::test_a_run_on_nodes_leaves_the_same_bytes",
        '"run"',
        BY_ADDRESS,
    ),
    rf"recallbench evaluate .* {ADDRESS}": (
        f"{NODES}::test_an_evaluation_of_which_a_node_is_killed_leaves_the_same_bytes",
        "evaluating(team)",
        BY_ADDRESS,
    ),
    rf"recallbench sweep .* {ADDRESS}": (
        f"{NODES}::test_the_cells_of_a_matrix_and_the_points_of_a_sweep_are_those_of_one_process",
        '"sweep"',
        "of_nodes(nodes)",
    ),
    rf"recallbench matrix .* {ADDRESS}": (
        f"{NODES}::test_the_cells_of_a_matrix_and_the_points_of_a_sweep_are_those_of_one_process",
        '"matrix"',
        "of_nodes(nodes)",
    ),
    rf"recallbench repeat .* {ADDRESS}": (
        f"{NODES}::test_repeats_come_back_from_the_nodes_whole",
        '"repeat"',
        BY_ADDRESS,
    ),
    rf"recallbench audit .* {ADDRESS}": (
        f"{NODES}::test_audits_on_nodes_say_what_they_say_here",
        '"audit"',
        BY_ADDRESS,
    ),
    r"createdb recall_bench|psql -d recall_bench .*|\. \.venv/bin/activate|export PGMNEMO_DSN=.*|\(cd .* <TAG>.*\)": (
        "tests/documents/test_procedure_commands.py::test_they_make_a_server_ready_and_measure_both_corpora",
        "in COMMANDS",
    ),
    r"recallbench (run|table) (locomo \$vectors .*|\S+/text/\*) (--out )?figures/locomo/minilm(/\* .*)?": (
        "tests/documents/test_figures_page.py::test_the_commands_give_a_table_and_a_page_for_each_store",
        'commands("LoCoMo")',
        "for words in (texts, minilm,",
        '"table", *results, "--format", "markdown"',
    ),
    r"python examples/bolt_server.py( &)?": (
        "tests/test_bolt_server.py::test_the_server_stops_cleanly_on_a_signal",
        "SERVER",
    ),
    r"python scripts/check_corpora.py realmem \S+ realmem-exact": (
        "tests/corpora/test_corpora_facts.py::test_minilm_over_real_chats_is_within_the_weight_of_one_question",
        "compared(",
        "encoder(",
    ),
}
"""Commands that another test executes: elsewhere, over less, or with a stand-in; and words of that test."""

TORCH = ("BACKEND=torch",)
"""Neither compiles a graph nor proves it, which takes longer than a few texts."""
FEW_TOKENS = ("MAX_TOKENS=8", *TORCH)
EASED: Mapping[str, tuple[str, ...]] = {
    r"recallbench run (realtalk|(realtalk-turns|realmem) --store) .*--embedder (minilm|mpnet)\b.*": FEW_TOKENS,
    r"recallbench run locomo .*--embedder mpnet .*": FEW_TOKENS,
    r"recallbench evaluate turns .*": FEW_TOKENS,
    r"recallbench run locomo .*--embedder path:.*": ("LIMIT=2", *TORCH),
    r"recallbench run locomo .* --max-tokens 128 .*|recallbench matrix --encoders .*": TORCH,
    r"recallbench run canary-locomo --store exact --embedder minilm --(cache-dir|engine) .*": FEW_TOKENS,
    r"recallbench run canary-locomo --store exact --embedder minilm --(dtype .*|folder fp32)": FEW_TOKENS[:1],
    r"recallbench sweep examples/sweeps/(3-rerank|4-rewrite)\.toml .*": ("LIMIT=2",),
    r"recallbench sweep .* --sensitivity .*|recallbench repeat 2 locomo .*": ("LIMIT=20",),
    r"recallbench (run locomo|versions) --store pgmnemo .*": ("LIMIT=20",),
}
"""Commands to which each text or question adds seconds or minutes, with options that ease them, set as variables."""

FURTHER = ("realtalk-turns", "beam-100k", "realmem")
"""Corpora over which a guide does again what it did over two others."""
SHORT_WINDOWS = "minilm@16,mpnet@16,minilm-sre@16,minilm-l3@16,minilm@8,wordllama"
INSTEAD: Mapping[str, str] = {
    "--seconds 20": "--seconds 2",
    "--items 50": "--items 1",
    "minilm,mpnet,minilm-sre,minilm-l3,minilm@128,wordllama": SHORT_WINDOWS,
    "minilm,minilm@256,minilm@128,minilm-l3,wordllama,mpnet": SHORT_WINDOWS,
    "minilm@128,minilm@256,minilm --corpora": "minilm@8,minilm@12,minilm@16 --corpora",
    "--corpora realtalk,realtalk-turns,locomo,realmem,beam-100k": "--corpora canary-locomo",
    "--corpora realtalk,locomo": "--corpora canary-locomo",
    "tenants.py longmemeval_s_cleaned.json": "tenants.py few-items.json --shares 10",
    "dbname=…": "dbname=postgres",
    "run realtalk $vectors": "run realtalk --store exact",
    **{f"{corpus} $words --store graph": f"{corpus} --store bm25" for corpus in ("locomo", "realtalk", *FURTHER[:2])},
    "realmem $words": "realmem --store bm25",
    **{f"{corpus} $vectors --embedder minilm": f"{corpus} --store exact --embedder hash" for corpus in FURTHER},
    **{f"{corpus} $vectors --embedder mpnet": f"{corpus} --store exact --embedder wordllama" for corpus in FURTHER},
}
"""Words of commands that would wait, or do the same to more; with what the test says instead."""

ONE_CASE = "--points 1 --folder faults"
ONLY: Mapping[str, str] = {
    "scripts/faults": f"scripts/faults --kind shared {ONE_CASE}",
    "scripts/faults --kind server": f"scripts/faults --kind server {ONE_CASE}",
}
"""Whole commands that do hundreds of things, of which the test has them do one."""


def as_executed(line: Line) -> Line:
    """Return a command as a test executes it."""
    command = ONLY.get(line.command, line.command)
    for words, fewer in INSTEAD.items():
        command = command.replace(words, fewer)
    options = [option for pattern, own in EASED.items() if re.fullmatch(pattern, line.command) for option in own]
    return line._replace(command=" ".join([*(f"RECALLBENCH_{option}" for option in options), command]))


def reason(line: Line) -> str | None:
    """Return why a command is not executed where it stands, or None: it is."""
    every = {**LEFT_OUT, **OTHERWISE, MIRRORED: "needs a mirror"}
    return next((why for pattern, why in every.items() if re.fullmatch(pattern, line.command)), None)


def weights_of(line: Line) -> set[str]:
    """Return the encoders whose weights a command needs."""
    if not re.match(r"recallbench (fetch|run|matrix|table) ", line.command):
        return set()
    named = {name for name in WEIGHTS if re.search(rf"(?<![\w-]){name}(?![\w-])", line.command)}
    return named | ({"wordllama"} if "--controls bm25,static" in line.command else set())
