"""`recallbench run`: the main job."""

from __future__ import annotations

from datetime import date
from typing import Annotated

import typer

from recallbench.cli import settings
from recallbench.cli.settings import option
from recallbench.reports.table import print_parts


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("run", epilog=settings.EPILOG)(run)


@settings.takes_store_options()
def run(
    corpus: Annotated[str, typer.Argument(help="locomo, longmemeval, or canary (the two small bundled corpora).")],
    version: settings.Version = None,
    store: settings.Store = None,
    dsn: settings.Dsn = None,
    embedder: settings.EmbedderName = None,
    backend: settings.Backend = "auto",
    store_options: settings.StoreOptions = settings.NO_STORE_OPTIONS,
    corpus_file: settings.CorpusFile = None,
    download: settings.Download = True,
    allow_deviation: settings.AllowDeviation = None,
    limit: settings.Limit = None,
    depth: settings.Depth = 50,
    scope: settings.Scope = "own",
    reproduce: Annotated[
        str | None,
        option("reproduce", "A published baseline to measure again its own, flawed way, beside the result; labelled."),
    ] = None,
    out: settings.Out = None,
    folder: settings.Folder = None,
    label: settings.Label = None,
    with_text: settings.WithText = False,
    keep_going: settings.KeepGoing = False,
    require_verified: settings.RequireVerified = False,
    dry_run: Annotated[bool, option("dry-run", "Walk the path on a miniature and say what a real run needs.")] = False,
    strict: settings.Strict = False,
    cache_dir: settings.CacheDir = None,
    quiet: settings.Quiet = False,
    config: settings.Config = None,
) -> int:
    """Measure a store on a corpus and write a result folder that proves the number."""
    from recallbench.cli.bars import listener
    from recallbench.cli.measure.headline import headline, reproduction, tell_failures
    from recallbench.corpora.registry import names
    from recallbench.errors import UsageError
    from recallbench.runs.dry import dry_run as rehearse
    from recallbench.runs.options import Options
    from recallbench.runs.run import run as make

    allowed = settings.allowed(allow_deviation)
    if strict and not dry_run:
        raise UsageError(
            "--strict goes with --dry-run",
            expected="--dry-run --strict, which exits 3 when anything is not ready",
            found="--strict alone",
            remedy="add --dry-run, or use --require-verified to make the verdict the exit code",
        )
    corpora = names(corpus)
    if folder is not None and len(corpora) > 1:
        raise UsageError(
            f"--folder names one result, but {corpus} makes {len(corpora)}",
            expected="one corpus",
            found=", ".join(corpora),
            remedy=f"run {corpora[0]} and {corpora[1]} apart, or name a parent with --out",
        )
    progress = listener(quiet)
    made = []
    for name in corpora:
        options = Options(
            corpus=name,
            version=version,
            store=store,
            dsn=dsn,
            embedder=embedder,
            backend=backend,
            store_options=store_options,
            corpus_file=corpus_file,
            download=download,
            out=out,
            folder=folder,
            label=label,
            limit=limit,
            depth=depth,
            pooled=scope == "pooled",
            reproduce=reproduce,
            allow_deviations=allowed,
            with_text=with_text,
            keep_going=keep_going,
            cache_dir=cache_dir or settings.default_cache(),
            environ=settings.environment(),
        )
        if dry_run:
            made.append(rehearse(options))
            continue
        outcome = make(options, progress, date.today())
        print_parts(*headline(outcome.metrics, outcome.folder))
        if outcome.reproduced is not None:
            print_parts(*reproduction(outcome.reproduced, outcome.folder))
        holds = not require_verified or outcome.metrics.verdict.text.startswith(("VERIFIED", "UNVERIFIED ("))
        made.append(tell_failures(outcome.retrieval.failures) and holds)
    if dry_run:
        return 0 if all(made) or not strict else 3
    return 0 if all(made) else 1
