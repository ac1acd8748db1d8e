"""The card of a dataset: what the hub reads at its head, and what people read below."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from recallbench import __version__
from recallbench.corpora.labelled_sets.set_name import short_names
from recallbench.corpora.registry import CORPORA
from recallbench.escaping.markdown import Markup, code, inline
from recallbench.escaping.terminal import visible
from recallbench.exports.forms import FIGURES, HISTORY, RESULTS
from recallbench.exports.parquet_files import FORMS
from recallbench.exports.recorded import Recorded
from recallbench.exports.study_forms import STUDIES, SWEEPS
from recallbench.exports.table_form import Row, Value
from recallbench.reports.cells import figure
from recallbench.reports.table import Table
from recallbench.results.metrics import OVERALL

MARK = "<!-- written by recallbench export hub -->"
SHOWN = ("recall_any@10", "mrr@50")
"""The measures in the card's table."""
UNKNOWN = "not known to this tool: ask whoever brought it"


def card(recorded: Recorded, counts: Mapping[str, int], title: str, licence: str, repo: str) -> str:
    """Return the README.md of the dataset; `counts` are rows by table."""
    parts = [
        *_head(counts, title, licence),
        MARK,
        f"# {inline(title)}",
        "",
        f"{recorded.words[0].upper()}{recorded.words[1:]} of retrieval, exported by RecallBench {__version__}. No file "
        "has text of a corpus: questions go by their ids. Verdicts and figures are as the results record them.",
        "",
        "```python",
        "from datasets import load_dataset",
        "",
        f'history = load_dataset({json.dumps(visible(repo))}, {json.dumps(HISTORY.name)}, split="train")',
        "```",
        "",
        "## What was measured on",
        "",
        *_corpora(recorded),
        "",
        *_results(recorded),
        "## The tables",
        "",
        *_tables(counts),
    ]
    return "\n".join(parts).rstrip() + "\n"


def _head(counts: Mapping[str, int], title: str, licence: str) -> Iterator[str]:
    """Yield the lines of YAML; JSON is YAML too, so that no text gets out of its quotes."""
    yield "---"
    yield f"pretty_name: {json.dumps(visible(title))}"
    yield f"license: {json.dumps(visible(licence))}"
    yield "tags: [recallbench, retrieval, benchmark, memory]"
    yield "configs:"
    for form in FORMS:
        if counts[form.name]:
            yield f"- config_name: {form.name}"
            yield from ["  default: true"] if form is HISTORY else []
            yield "  data_files:"
            yield "  - split: train"
            yield f"    path: data/{form.name}.parquet"
    yield "---"


def _corpora(recorded: Recorded) -> Sequence[str]:
    hashes: dict[str, dict[str, None]] = {}
    for form in (RESULTS, STUDIES, SWEEPS):
        for row in recorded.rows(form.name):
            hashes.setdefault(str(row["corpus"]), {})[str(row["dataset_sha256"])] = None
    rows = [
        (
            short_names(name),
            CORPORA[name].licence if name in CORPORA and CORPORA[name].licence else UNKNOWN,
            code(sha256),
        )
        for name, every in hashes.items()
        for sha256 in every
    ]
    return Table(("corpus", "licence of its texts", "sha256 of the file"), rows).markdown()


def _results(recorded: Recorded) -> Iterator[str]:
    values: dict[tuple[str, str], Row] = {}
    for row in recorded.rows(FIGURES.name):
        if row["slice_kind"] == OVERALL and row["measure"] in SHOWN:
            values[str(row["result"]), str(row["measure"])] = row
    rows = [
        (
            short_names(str(row["corpus"])),
            str(row["system"]),
            str(row["version"]),
            *(_estimate(values.get((str(row["result"]), measure))) for measure in SHOWN),
            str(row["verdict_text"]),
            "; ".join(short_names(str(text)) for text in _texts(row["deviations"])) or "none",
        )
        for row in recorded.rows(RESULTS.name)
    ]
    if rows:
        header = ("corpus", "system", "version", *SHOWN, "verdict, as recorded", "deviations")
        yield from ["## The results", "", *Table(header, rows).markdown(), ""]


def _texts(value: Value) -> Sequence[object]:
    return value if isinstance(value, Sequence) else ()


def _estimate(row: Row | None) -> str:
    if row is None:
        return "–"
    value, low, high = (row[name] for name in ("value", "low", "high"))
    if low is None or high is None:
        return figure(value)  # type: ignore[arg-type]
    return f"{figure(value)} ({figure(low)} to {figure(high)})"  # type: ignore[arg-type]


def _tables(counts: Mapping[str, int]) -> Iterator[str]:
    for form in FORMS:
        if counts[form.name]:
            rows = [(Markup(code(column.name)), column.kind, column.meaning) for column in form.columns]
            yield from [
                f"### {form.name}",
                "",
                f"{form.meaning[0].upper()}{form.meaning[1:]}; {counts[form.name]:,} rows.",
                "",
            ]
            yield from [*Table(("column", "holds", "what it means"), rows).markdown(), ""]
