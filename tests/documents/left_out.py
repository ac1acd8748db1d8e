"""The commands of the documents that no test executes, each with its reason."""

from __future__ import annotations

import re
from collections.abc import Mapping

from documents.shell_blocks import Line

INSTALLS = "installs packages or a checkout, which tests/test_setup.py and tests/test_wheel.py do"
NETWORK = "fetches over the network; the tests of fetching have a server of their own"
MIRRORED = "fetches over the network; a test of its own fetches it from a mirror"
FETCHED = "needs weights that only the package index or the hub has"
KEPT = "shows what a command above left or fetched, which is left out itself"
WHOLE = "measures the harness or a corpus as a whole, for minutes or hours, and takes no limit"
PGMNEMO = "needs a server with the real extension pgmnemo, or the programs of PostgreSQL"
CLUSTER = "needs a cluster that stands; tests/cluster has one of its own"
SERVER = "keeps its terminal; the test has started the server already"

LEFT_OUT: Mapping[str, str] = {
    r"pip install .*": INSTALLS,
    r"recallbench .* --ray-address 10\.0\.0\.1:6379": CLUSTER,
    r"gh (release download|attestation verify) .*": NETWORK,
    r"\(cd release && sha256sum --check SHA256SUMS\)": KEPT,
    r"scripts/(run|test)|\. \.venv/bin/activate": INSTALLS,
    r"recallbench fetch (locomo|realtalk|realmem|beam-100k)": MIRRORED,
    r"recallbench fetch .*": NETWORK,
    r"recallbench evaluate hub:.*": NETWORK,
    r"\(cd \S+ && curl .*": NETWORK,
    r"recallbench (multiverse|audit|table) (\$OURS )?(\$DIR|v0\.2\.1_session_20260509)\b.*": KEPT,
    r"recallbench (doctor|run (locomo|longmemeval) --dry-run) --strict": FETCHED,
    r".* --embedder (mpnet|nomic|wordllama|path:all-mpnet-base-v2)\b.*": FETCHED,
    r"recallbench run canary-locomo --store bm25 --controls bm25,static": FETCHED,
    r"recallbench matrix --encoders .*(mpnet|wordllama|nomic).*": FETCHED,
    r"recallbench table .*/mpnet/.*": KEPT,
    r"recallbench run locomo --store pgmnemo .*": PGMNEMO,
    r"(createdb|psql|export PGMNEMO_DSN=).*": PGMNEMO,
    r"\(cd benchmarks/(longmemeval|locomo) && (python runner\.py|bash run_locomo\.sh).* <TAG>.*": PGMNEMO,
    r"python examples/bolt_server.py( &)?": SERVER,
    r"python scripts/check_corpora.py \S+ \S+ \S+": WHOLE,
    r"python benchmarks/longmemeval/tenants.py .*": WHOLE,
    r"\.venv/bin/python benchmarks/performance.*": WHOLE,
    r"scripts/faults.*": WHOLE,
}
"""Whole commands, as patterns."""

ELSEWHERE: Mapping[str, str] = {
    "docs/dashboards.md": "tests/documents/test_dashboards_guide.py",
    "docs/least-privilege.md": "tests/documents/test_role_guide.py",
    "docs/first-figures.md": "tests/documents/test_document_figures.py",
    "docs/scale.md": "tests/test_scaling.py",
    "benchmarks/RANKERS.md": "tests/test_rankers_page.py",
}
"""Documents whose commands another test executes: they want servers of their own, or each figure is looked at."""

LIMITED: Mapping[str, int] = {
    r"recallbench sweep examples/sweeps/(3-rerank|4-rewrite)\.toml .*": 2,
    r"recallbench versions --store pgmnemo .*": 20,
}
"""Commands to which each question adds seconds or minutes, with the number of questions that they are given."""

SHORTER: Mapping[str, str] = {"--seconds 20": "--seconds 2"}
"""Words of commands that would only wait, with what the test says instead."""


def as_executed(line: Line) -> Line:
    """Return a command as a test executes it."""
    command = line.command
    for words, fewer in SHORTER.items():
        command = command.replace(words, fewer)
    most = next((most for pattern, most in LIMITED.items() if re.fullmatch(pattern, command)), None)
    return line._replace(command=command if most is None else f"RECALLBENCH_LIMIT={most} {command}")


def reason(line: Line) -> str | None:
    """Return why a command is left out, or None: it is executed."""
    return next((why for pattern, why in LEFT_OUT.items() if re.fullmatch(pattern, line.command)), None)
