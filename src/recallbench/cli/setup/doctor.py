"""`recallbench doctor`: what a run would need, and whether it is here."""

from __future__ import annotations

from typing import Any

from recallbench.cli import options
from recallbench.cli.command import argument, command


@command(
    argument("corpora", "Corpora to ask about [default: locomo and longmemeval].", nargs=-1, metavar="[CORPUS...]"),
    options.VERSION,
    options.STORE,
    options.DSN,
    options.EMBEDDER,
    options.MAX_TOKENS,
    *options.of_stores(),
    options.CORPUS_FILE,
    options.CACHE_DIR,
    options.STRICT,
    options.CONFIG,
)
def doctor(corpora: tuple[str, ...], strict: bool, **of_run: Any) -> int:
    """List what a real run needs, and whether it is here."""
    from recallbench.corpora.registry import names
    from recallbench.runs.dry import print_readiness

    named = [name for corpus in corpora or ("locomo", "longmemeval") for name in names(corpus)]
    ready = [print_readiness(options.run_options(corpus=name, **of_run)) for name in named]
    return 0 if all(ready) or not strict else 3
