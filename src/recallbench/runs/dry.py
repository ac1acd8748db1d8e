"""A dry run: the whole path on a miniature, then the prerequisites of the real run."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path

from recallbench.corpora.registry import write_miniature
from recallbench.escaping.terminal import visible
from recallbench.progress import Silent
from recallbench.protocol.reproductions import find_reproduction
from recallbench.results.manifest import differences
from recallbench.results.result import open_result
from recallbench.retrieval.pipeline.pipeline import Pipeline
from recallbench.runs.options import Options
from recallbench.runs.readiness import ReadinessRow, readiness
from recallbench.runs.run import run
from recallbench.scratch import scratch


def dry_run(options: Options) -> bool:
    """Rehearse on a miniature in a temporary folder, print the readiness table; True when everything is ready."""
    if options.reproduce is not None:
        find_reproduction(options.reproduce, options.corpus)
    with scratch(Path(tempfile.gettempdir())) as place:
        write_miniature(options.corpus, place / "miniature")
        pipeline = options.pipeline if options.pipeline is not None and _can_be_rehearsed(options.pipeline) else None
        rehearsal = replace(
            options,
            pipeline=pipeline,
            corpus_file=place / "miniature",
            allow_deviations=frozenset({"dataset"}),
            allow_random_matches=True,
            store="exact" if pipeline is None or pipeline.searches_store else None,
            embedder="hash",
            max_tokens=None,
            dsn=None,
            store_options={},
            out=None,
            folder=place / "result",
            limit=None,
            cache_dir=place / "cache",
            with_text=False,
        )
        outcome = run(rehearsal, Silent(), date.today())
        wrong = differences(outcome.folder)
        open_result(outcome.folder)
        files = sorted(path.name for path in outcome.folder.iterdir())
    count = outcome.metrics.retrieval.asked
    print(f"dry run of {options.corpus}: {count} questions on a miniature, {len(files)} artefacts: {', '.join(files)}")
    for line in wrong:
        print(f"  artefacts: {visible(line)}")
    return print_readiness(options) and not wrong


def _can_be_rehearsed(pipeline: Pipeline) -> bool:
    """Return whether its stages work on a miniature: none asks a server, and some leg takes vectors."""
    dense = any(leg.method in ("store", "dense") for leg in pipeline.legs)
    return dense and not any(spec.stage.asks_endpoint for spec in pipeline)


def print_readiness(options: Options) -> bool:
    """Print the readiness table and its last line, READY or NOT READY."""
    rows = readiness(options)
    for line in readiness_lines(options.corpus, rows):
        print(line)
    ready = is_ready(rows)
    print("READY" if ready else "NOT READY")
    return ready


def is_ready(rows: Sequence[ReadinessRow]) -> bool:
    """Whether nothing that a real run needs is missing."""
    return all(row.status != "NOT READY" for row in rows)


def readiness_lines(corpus: str, rows: Sequence[ReadinessRow]) -> Iterator[str]:
    """Yield the readiness table of a corpus, line by line."""
    width = max(len(row.name) for row in rows)
    yield f"readiness of a real run on {corpus}"
    for row in rows:
        yield f"  {row.name.ljust(width)}  {row.status:<9}  {visible(row.detail)}"
        if row.remedy:
            yield f"  {'':<{width}}  {'':<9}  what to do: {visible(row.remedy)}"
