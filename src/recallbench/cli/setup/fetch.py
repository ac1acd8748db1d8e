"""`recallbench fetch`: bring a corpus or an encoder's weights here, checked against the pinned hashes."""

from __future__ import annotations

import os
from pathlib import Path

from recallbench.cli import options
from recallbench.cli.command import argument, command


@command(
    argument(
        "name",
        "A corpus (locomo, realtalk, …: `recallbench corpora`) or an encoder (bge-m3, mpnet, …: "
        "`recallbench embedders`, or hub:OWNER/NAME@REVISION).",
    ),
    options.CACHE_DIR,
    options.QUIET,
    epilog="",
)
def fetch(name: str, cache_dir: Path | None, quiet: bool) -> int:
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
        print(fetch_corpus(facts(name, load()), environ, progress))
    elif name.lower().startswith("hub:"):
        from recallbench.embedding.forms.form import EncoderRequest
        from recallbench.embedding.forms.hub_revision import fetch_model

        request = EncoderRequest(name, cache_dir or options.default_cache(), environ, progress)
        for path in fetch_model(request):
            print(path)
    elif name in ENCODERS:
        from recallbench.embedding.weights import fetch_weights

        for path in fetch_weights(name, environ, progress, cache_dir=cache_dir or options.default_cache()):
            print(path)
    else:
        raise UsageError(
            f"nothing called {name!r} can be fetched",
            expected=f"one of {', '.join([*CORPORA, *ENCODERS])}",
            found=name,
            remedy="`recallbench corpora` and `recallbench embedders` list them"
            + you_may_mean(name, [*CORPORA, *ENCODERS]),
        )
    return 0
