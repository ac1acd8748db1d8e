"""`recallbench fetch`: bring a corpus or an encoder's weights here, checked against the pinned hashes."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from recallbench.cli import options
from recallbench.cli.command import argument, command
from recallbench.cli.completing import completer_of
from recallbench.cli.printing import show
from recallbench.reports.conclusions.fetched import fetched
from recallbench.reports.printing.printed import Format, Printed
from recallbench.reports.table import Table


@command(
    argument(
        "name",
        "A corpus (locomo, realtalk, …: `recallbench corpora`) or an encoder (bge-m3, mpnet, …: "
        "`recallbench embedders`, or hub:OWNER/NAME@REVISION).",
        shell_complete=completer_of("downloads"),
    ),
    options.CACHE_DIR,
    *options.FORMAT,
    options.QUIET,
    epilog="Examples: recallbench fetch locomo; recallbench fetch minilm.",
)
def fetch(name: str, cache_dir: Path | None, format: Format, quiet: bool) -> int:
    """Download a corpus or an encoder at its pinned revision and check every hash."""
    from recallbench.cli.bars import listener
    from recallbench.corpora.registry import CORPORA, facts
    from recallbench.corpora.registry import fetch as fetch_corpus
    from recallbench.embedding.encoders import ENCODERS
    from recallbench.errors import UsageError
    from recallbench.nearest_name import you_may_mean
    from recallbench.protocol.frozen import load

    progress, environ = listener(quiet), dict(os.environ)
    if name in CORPORA:
        paths: Sequence[Path] = [fetch_corpus(facts(name, load()), environ, progress)]
    elif name.lower().startswith("hub:"):
        from recallbench.embedding.forms.form import EncoderRequest
        from recallbench.embedding.forms.hub_revision import fetch_model

        request = EncoderRequest(name, cache_dir or options.default_cache(), environ, progress)
        paths = fetch_model(request)
    elif name in ENCODERS:
        from recallbench.embedding.weights import fetch_weights

        paths = fetch_weights(name, environ, progress, cache_dir=cache_dir or options.default_cache())
    else:
        raise UsageError(
            f"nothing called {name!r} can be fetched",
            expected=f"one of {', '.join([*CORPORA, *ENCODERS])}",
            found=name,
            remedy="`recallbench corpora` and `recallbench embedders` list them"
            + you_may_mean(name, [*CORPORA, *ENCODERS]),
        )
    listed = list(map(str, paths))
    sheet = Table(("file",), [(path,) for path in listed], caption="Files")
    document = {"name": name, "files": listed}
    show(
        Printed(f"Files of {name}", listed, document, fetched(name, is_corpus=name in CORPORA), own_sheet=sheet), format
    )
    return 0
