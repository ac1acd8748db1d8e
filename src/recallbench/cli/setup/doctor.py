"""`recallbench doctor`: what a run would need, and whether it is here."""

from __future__ import annotations

from typing import Annotated

import typer

from recallbench.cli import settings


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("doctor", epilog=settings.EPILOG)(doctor)


def doctor(
    corpora: Annotated[
        list[str] | None,
        typer.Argument(help="Corpora to ask about [default: locomo and longmemeval].", metavar="CORPUS..."),
    ] = None,
    version: settings.Version = None,
    store: settings.Store = None,
    dsn: settings.Dsn = None,
    embedder: settings.EmbedderName = None,
    corpus_file: settings.CorpusFile = None,
    cache_dir: settings.CacheDir = None,
    strict: settings.Strict = False,
    config: settings.Config = None,
) -> int:
    """Print the readiness table of a real run."""
    from recallbench.corpora.registry import names
    from recallbench.runs.dry import print_readiness
    from recallbench.runs.options import Options

    ready = []
    for name in [one for corpus in corpora or ("locomo", "longmemeval") for one in names(corpus)]:
        options = Options(
            corpus=name,
            version=version,
            store=store,
            dsn=dsn,
            embedder=embedder,
            corpus_file=corpus_file,
            cache_dir=cache_dir or settings.default_cache(),
            environ=settings.environment(),
        )
        ready.append(print_readiness(options))
    return 0 if all(ready) or not strict else 3
