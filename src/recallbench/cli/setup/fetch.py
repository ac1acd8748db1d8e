"""`recallbench fetch`: bring a corpus or an encoder's weights here, checked against the pinned hashes."""

from __future__ import annotations

from typing import Annotated

import typer

from recallbench.cli import settings


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("fetch")(fetch)


def fetch(
    name: Annotated[str, typer.Argument(help="A corpus (locomo, longmemeval) or an encoder (bge-m3, dragon-plus).")],
    cache_dir: settings.CacheDir = None,
    quiet: settings.Quiet = False,
) -> None:
    """Download a corpus or an encoder at its pinned revision and check every hash."""
    from recallbench.cli.bars import listener
    from recallbench.corpora.fetch import fetch as fetch_corpus
    from recallbench.corpora.registry import CORPORA, facts
    from recallbench.embedding.encoders import ENCODERS
    from recallbench.errors import UsageError
    from recallbench.protocol.frozen import load

    rules = load()
    progress, environ = listener(quiet), settings.environment()
    if name in CORPORA:
        print(fetch_corpus(facts(name, rules), environ, progress))
    elif name in ENCODERS:
        from recallbench.embedding.weights import fetch_weights

        for path in fetch_weights(name, environ, progress, cache_dir=cache_dir or settings.default_cache()):
            print(path)
    else:
        raise UsageError(
            f"nothing called {name!r} can be fetched",
            expected=f"one of {', '.join([*CORPORA, *ENCODERS])}",
            found=name,
            remedy="`recallbench corpora` and `recallbench embedders` list them",
        )
