"""`recallbench doctor`: what a run would need, whether it is here, and what it takes."""

from __future__ import annotations

from typing import Any

from recallbench.cli import encoder_options, options
from recallbench.cli.command import EPILOG, argument, command
from recallbench.cli.printing import show
from recallbench.cli.server_option import DSN
from recallbench.escaping import shell
from recallbench.reports.printing.printed import Format, Printed
from recallbench.reports.table import Part

AT_ONCE = "recallbench run canary-locomo --store bm25, which needs none of it"


@command(
    argument("corpora", "Corpora to ask about [default: locomo and longmemeval].", nargs=-1, metavar="[CORPUS...]"),
    options.VERSION,
    options.STORE,
    DSN,
    encoder_options.EMBEDDER,
    encoder_options.MAX_TOKENS,
    encoder_options.DTYPE,
    encoder_options.BACKEND,
    *options.of_stores(),
    options.CORPUS_FILE,
    options.CACHE_DIR,
    options.STRICT,
    *options.FORMAT,
    options.CONFIG,
    epilog="Examples: recallbench doctor; recallbench doctor locomo --store bm25; recallbench doctor canary-locomo "
    f"--store exact --embedder minilm. {EPILOG}",
)
def doctor(corpora: tuple[str, ...], strict: bool, format: Format, **of_run: Any) -> int:
    """List what a real run needs, whether it is here, and how long it takes."""
    from dataclasses import asdict

    from recallbench.corpora.registry import names
    from recallbench.runs.dry import forecast_rows, readiness_lines, readiness_sheet
    from recallbench.runs.forecast.foreseen import foresee
    from recallbench.runs.forecast.words import forecast_document
    from recallbench.runs.readiness import readiness
    from recallbench.runs.readiness_conclusion import is_ready, readiness_conclusion

    named = [name for corpus in corpora or ("locomo", "longmemeval") for name in names(corpus)]
    runs = {name: options.run_options(corpus=name, **of_run) for name in named}
    told_of = {name: foresee(run, tries_encoder=True) for name, run in runs.items()}
    asked = {name: (*readiness(run), *forecast_rows(told_of[name])) for name, run in runs.items()}
    ready = {name: is_ready(rows) for name, rows in asked.items()}
    lines: list[Part] = []
    for name, rows in asked.items():
        lines += [*readiness_lines(name, rows, labels=True), "READY" if ready[name] else "NOT READY"]
    sheet = readiness_sheet(asked)
    document = {
        "corpora": [
            {
                "corpus": name,
                "ready": ready[name],
                "rows": [asdict(row) for row in rows],
                "forecast": None if (foreseen := told_of[name]) is None else forecast_document(foreseen),
            }
            for name, rows in asked.items()
        ]
    }
    given = {name: of_run[name] for name in ("store", "embedder", "max_tokens", "dtype", "backend")}
    chosen = [
        word
        for name, value in given.items()
        if value not in (None, "fp32", "auto")
        for word in (f"--{name.replace('_', '-')}", str(value))
    ]
    told = readiness_conclusion(asked, shell.command("run", named[0], *chosen), AT_ONCE)
    # A page and Markdown have the table, where the terminal has lines that are made to be read from above.
    parts = lines if format == "text" else [sheet]
    show(Printed("What a real run needs", parts, document, told, own_sheet=sheet), format)
    return 0 if all(ready.values()) or not strict else 3
