"""The commands of the documents that no test executes, each with its reason."""

from __future__ import annotations

import re
from collections.abc import Mapping

from documents.shell_blocks import Line

INSTALLS = "installs packages or a checkout, which tests/test_setup.py and tests/test_wheel.py do"
NETWORK = "fetches over the network; the tests of fetching have a server of their own"
MIRRORED = "fetches over the network; a test of its own fetches it from a mirror"
FETCHED = "needs weights that only the package index or the hub has"
ENDPOINT = "needs a model behind an endpoint"
KEPT = "shows what a command above left, which is left out itself"
WHOLE = "measures the harness or a corpus as a whole, for minutes or hours"
PGMNEMO = "needs a server with the extension pgmnemo"
SERVER = "keeps its terminal; the test has started the server already"

LEFT_OUT: Mapping[str, str] = {
    r"pip install .*": INSTALLS,
    r"gh (release download|attestation verify) .*": NETWORK,
    r"\(cd release && sha256sum --check SHA256SUMS\)": KEPT,
    r"scripts/(run|test)": INSTALLS,
    r"recallbench fetch (locomo|realtalk|realmem|beam-100k)": MIRRORED,
    r"recallbench fetch .*": NETWORK,
    r"recallbench evaluate hub:.*": NETWORK,
    r"recallbench doctor --strict": FETCHED,
    r".* --embedder (mpnet|nomic|wordllama|path:all-mpnet-base-v2)\b.*": FETCHED,
    r"recallbench run canary-locomo --store bm25 --controls bm25,static": FETCHED,
    r"recallbench matrix --encoders .*(mpnet|wordllama|nomic).*": WHOLE,
    r"recallbench table .*/mpnet/.*": KEPT,
    r".* --embedder http://127.0.0.1:8080/v1": ENDPOINT,
    r"measure .*(multi-query|hyde).toml .*": ENDPOINT,
    r"recallbench sweep examples/sweeps/4-rewrite.toml .*": ENDPOINT,
    r"recallbench (table|stages) .*(multi-query|hyde)\b.*": KEPT,
    r"recallbench versions --store pgmnemo .*": PGMNEMO,
    r"python examples/bolt_server.py( &)?": SERVER,
    r"recallbench sweep examples/sweeps/3-rerank.toml .*": WHOLE,
    r"python scripts/check_corpora.py .*": WHOLE,
    r"python benchmarks/longmemeval/tenants.py .*": WHOLE,
    r"\.venv/bin/python benchmarks/performance.*": WHOLE,
}
"""Whole commands, as patterns."""

ELSEWHERE: Mapping[str, str] = {
    "docs/dashboards.md": "tests/documents/test_dashboards_guide.py",
    "docs/least-privilege.md": "tests/documents/test_role_guide.py",
    "docs/first-figures.md": "tests/documents/test_document_figures.py",
}
"""Documents whose commands another test executes: they want servers of their own, or each figure is looked at."""


def reason(line: Line) -> str | None:
    """Return why a command is left out, or None: it is executed."""
    return next((why for pattern, why in LEFT_OUT.items() if re.fullmatch(pattern, line.command)), None)
