"""New entries of HISTORY.md: a change, and its effect on the protocol's metrics."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Literal

from recallbench.citing.publication import read_text
from recallbench.compare.movement import Movement, movements
from recallbench.errors import UsageError
from recallbench.escaping.markdown import code, inline
from recallbench.protocol.history import DeviationRecord, HistoryEntry, with_entry
from recallbench.reports.cells import figure
from recallbench.reports.conclusions.names import listed
from recallbench.reports.own_encoder import encoder_words
from recallbench.reports.printing.conclusion import Conclusion
from recallbench.reports.table import Table
from recallbench.results.result import Result, open_unchanged
from recallbench.whole_file import write_errors, write_whole

Kind = Literal["source", "methodology", "deviation"]
KINDS: dict[Kind, str] = {
    "source": "A change of the source: of the system under test, or of this program.",
    "methodology": "A change of the methodology: of how results are made or counted.",
    "deviation": "A departure from the frozen rules: results made so are cited as deviations, never under the "
    "protocol's name.",
}


def entry(
    kind: Kind,
    title: str,
    dated: date,
    text: str,
    records: Sequence[DeviationRecord],
    folders: tuple[Path, Path] | None,
    file: Path,
) -> HistoryEntry:
    """Return the entry, with a table of its impact for two result folders; raises UsageError where it says nothing."""
    if kind == "deviation" and not records:
        raise UsageError(
            "no deviation is named",
            expected="--deviation 'KIND NAME on CORPUS' with --kind deviation, as an audit names it",
            remedy="--deviation 'embedder minilm on locomo', or 'limit on locomo' for a kind without a name",
        )
    if not title.strip() or not (text.strip() or records or folders):
        raise UsageError(
            "this entry says nothing",
            expected="--title, and --text, --deviation, or --before and --after",
            remedy="say what changed",
        )
    parts = [KINDS[kind], text.strip()]
    if folders is not None:
        parts.append(impact(open_unchanged(folders[0]), open_unchanged(folders[1]), file))
    return HistoryEntry(
        dated, title.strip(), "\n\n".join(part for part in parts if part), tuple(dict.fromkeys(records))
    )


def conclusion(new: HistoryEntry, file: Path) -> Conclusion:
    """Return how adding an entry ends: what is on record now, and what it lets one do."""
    if not new.records:
        return Conclusion(f"{file} has the entry of {new.dated}, {new.title}", "", f"git add {shlex.quote(str(file))}")
    number = len(new.records)
    recorded = str(new.records[0]) if number == 1 else f"{number} deviations"
    everywhere = [record.name for record in new.records if not record.corpus]
    on_all = f" ({listed(everywhere, 2)}: on every corpus)" if everywhere else ""
    return Conclusion(
        f"{file} has {recorded} on record from {new.dated}{on_all}",
        "a VERIFIED result can be published with that, and never under the protocol's name",
        "recallbench cite DIR --as-deviation",
    )


def document(kind: Kind, new: HistoryEntry, file: Path) -> dict[str, object]:
    """Return the entry for a program."""
    return {
        "file": str(file),
        "kind": kind,
        "date": str(new.dated),
        "title": new.title,
        "text": new.body,
        "deviations": [
            {"name": record.name, "corpus": record.corpus or None, "text": str(record)} for record in new.records
        ],
    }


def impact(before: Result, after: Result, file: Path) -> str:
    """Return Markdown that names both results by folder and hash, and shows the protocol's metrics side by side."""
    if before.manifest_sha256 == after.manifest_sha256:
        raise UsageError(
            "the result before and the one after are the same",
            expected="two results",
            found=f"{before.folder} and {after.folder}",
            remedy="name the result from before the change with --before",
        )
    moved = movements(before, after)
    if not moved:
        raise UsageError(
            "these results have no metric of the protocol in common",
            expected="two results with recall@10",
            found=f"{before.folder} and {after.folder}",
        )
    lines = [_origin("Before", before, file), _origin("After", after, file), ""]
    lines += Table(
        ("metric", "counts", "before", "after", "difference", "95% interval"), [*map(_row, moved)]
    ).markdown()
    reasons = {movement.reason for movement in moved if movement.reason}
    if reasons:
        lines += ["", inline(f"Not compared question by question: {'; '.join(sorted(reasons))}.")]
    return "\n".join(lines)


def add(file: Path, new: HistoryEntry) -> None:
    """Write the entry at the end of the file, which is replaced at once or not at all."""
    real = file.resolve()
    before = read_text(real) if real.exists() else ""
    content = with_entry(before, new)
    with write_errors(
        f"{file} can't be written",
        expected="a file in a folder that may be written to",
        remedy="name another with --file; nothing was changed",
    ):
        write_whole(real, content, mode=real.stat().st_mode & 0o777 if real.exists() else 0o644, synced=True)


def _origin(word: str, result: Result, file: Path) -> str:
    where = Path(os.path.relpath(result.folder.resolve(), file.resolve().parent)).as_posix()
    metrics = result.metrics
    return (
        f"- {word}: {code(where)}, manifest sha256 {result.manifest_sha256}; "
        f"{inline(f'{metrics.corpus.name}, {encoder_words(metrics)}, {metrics.store.name} ({result.version})')}, "
        f"n = {metrics.headline[0].estimate.n if metrics.headline else 0}"
    )


def _row(movement: Movement) -> tuple[str, ...]:
    paired = movement.paired
    difference = "–" if paired is None else f"{paired.difference:+.4f}"
    interval = "–" if paired is None or paired.low is None else f"{paired.low:+.4f} to {paired.high:+.4f}"
    return (
        movement.protocol_name,
        code(movement.measure),
        figure(movement.before),
        figure(movement.after),
        difference,
        interval,
    )
