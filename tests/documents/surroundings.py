"""What the commands of a document find around them: a graph, Postgres servers, a model behind an endpoint, a hub.

The graph is a real one. In place of pgmnemo there is the stand-in of the store's tests, in place of a model a server
that speaks its protocol, and in place of the hub and of other people's repositories one with small files.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict

from bolt import bolt_server
from chat_server import MODEL, said
from documents.markdown import ROOT
from documents.served_files import published_rankings, sets_of_the_hub
from documents.shell_blocks import Line
from loopback_hub import LoopbackHub
from recallbench.stores.postgres.binaries import find_install
from recallbench.stores.postgres.embedded import EmbeddedServer
from scripted_server import scripted_server
from versioned import versioned_server

ENDPOINT = "127.0.0.1:8080"
"""Where the documents, and the examples that they name, have their model."""
ONLINE = {"HF_HUB_OFFLINE": "0"}
"""Lets a command use the network."""
REPOSITORIES = "https://raw.githubusercontent.com"
WORDINGS = "Who said so?\nWhen was it said?\nWhere was it said?"
VERSIONS = ("0.2.1", "0.4.1", "0.10.0", "0.15.1", "0.20.0")
"""Those of pgmnemo that the documents name."""
_ASKS_A_MODEL = re.compile(rf"{re.escape(ENDPOINT)}|\b(?:multi-query|hyde|4-rewrite)\b")


@contextmanager
def surrounded(commands: Sequence[Line], folder: Path) -> Iterator[tuple[list[Line], dict[str, str]]]:
    """Yield the commands, and the variables that name the servers they need; these run as long as the block."""
    lines, env = list(commands), {}
    text = "\n".join(line.command for line in lines)
    with ExitStack() as servers:
        if "graph" in text:
            (folder / "bolt").mkdir()
            env |= servers.enter_context(bolt_server(folder / "bolt"))
        if '"$PGMNEMO_DSN"' in text:
            env["PGMNEMO_DSN"] = servers.enter_context(versioned_server(offered=VERSIONS)).dsn
            env |= server_by_default(env["PGMNEMO_DSN"], folder)
            with psycopg.connect(env["PGMNEMO_DSN"], autocommit=True) as connection:
                connection.execute("CREATE EXTENSION pgmnemo CASCADE")
        for name in ("FIRST_DSN", "SECOND_DSN"):
            if f'"${name}"' in text:
                env[name] = servers.enter_context(EmbeddedServer()).dsn
        if "evaluate hub:" in text:
            hub = servers.enter_context(LoopbackHub(sets_of_the_hub()))
            env |= {"HF_ENDPOINT": hub.url, **ONLINE}
        if REPOSITORIES in text:
            others = servers.enter_context(LoopbackHub(published_rankings(folder / "locomo10.json")))
            lines = [line._replace(command=line.command.replace(REPOSITORIES, others.url)) for line in lines]
        if _ASKS_A_MODEL.search(text):
            script = servers.enter_context(scripted_server())
            script.answer = _model
            place = script.address.removeprefix("http://").rstrip("/")
            _examples_at(place, folder)
            lines = [line._replace(command=line.command.replace(ENDPOINT, place)) for line in lines]
        yield lines, env


def server_by_default(dsn: str, folder: Path) -> dict[str, str]:
    """Put the programs of PostgreSQL into the folder's `bin`, and return what makes a server theirs by default."""
    (folder / "bin").mkdir(exist_ok=True)
    for program in ("createdb", "psql"):
        (folder / "bin" / program).symlink_to(find_install().bin / program)
    names = {"host": "PGHOST", "port": "PGPORT", "user": "PGUSER", "password": "PGPASSWORD", "dbname": "PGDATABASE"}
    return {names[name]: str(value) for name, value in conninfo_to_dict(dsn).items() if name in names}


def _examples_at(place: str, folder: Path) -> None:
    """Put a copy of the examples in place, in which the model lies there: the documents say to put one's own in."""
    (folder / "examples").unlink()
    shutil.copytree(ROOT / "examples", folder / "examples", ignore=shutil.ignore_patterns("__pycache__"))
    for path in (folder / "examples").rglob("*.toml"):
        path.write_text(path.read_text("utf-8").replace(ENDPOINT, place), "utf-8")


def _model(path: str, body: Any) -> Any:
    """Answer as a model does that words every question in the same ways, and embeds a text by its letters."""
    if path == "/v1/models":
        return {"data": [{"id": MODEL}]}
    if path != "/v1/embeddings":
        return said(WORDINGS)
    rows = [[text.count(letter) + 0.1 for letter in "etaoin"] for text in body["input"]]
    data = [{"index": place, "embedding": row} for place, row in enumerate(rows)]
    return {"data": data, "model": MODEL, "usage": {"prompt_tokens": len(rows)}}
