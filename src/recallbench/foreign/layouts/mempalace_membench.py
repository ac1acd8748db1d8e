"""MemPalace's `results_membench_*.json`: rows with the numbers of the turns that came back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from recallbench.foreign.layouts.layout import Imported, ImportedQuestion, JsonFields, Layout, shown
from recallbench.foreign.layouts.mempalace import check_depth, mean_claim, stated_depth
from recallbench.foreign.layouts.row_files import files_with, list_rows, the_one


def recognises(folder: Path) -> bool:
    """Return whether there is a list of such rows."""
    return bool(_files(folder))


def _files(folder: Path) -> list[Path]:
    return files_with(folder, "results_*.json", ("target_sids", "retrieved_sids", "retrieved_global", "hit_at_k"))


def read(folder: Path) -> Imported:
    """Return the rows by the turns' own numbers; the claim is the share of rows that state a hit."""
    path = the_one(folder, _files(folder), "file of MemPalace's results")
    depth = stated_depth(path)
    rows: list[_MemBenchRow] = []
    for row in list_rows(path):
        rows.append(_MemBenchRow(row, f"hit@{depth}"))
        check_depth(row, "retrieved_sids", rows[-1].question.ranked, depth)
    questions = tuple(row.question for row in rows)
    return Imported(
        NAME,
        folder,
        questions,
        (
            mean_claim(
                f"hit@{depth}",
                [float(row.hit) for row in rows],
                f"{path.name} hit_at_k, the share of all rows",
            ),
        ),
        {},
        tuple(_unstated(rows, depth)),
        depth,
        path.name,
        "membench",
    )


class _MemBenchRow:
    """A row, and by which of its two numberings a turn was found."""

    def __init__(self, row: JsonFields, measure: str) -> None:
        hit, places = row.fields.get("hit_at_k"), row.ids("retrieved_global")
        if not isinstance(hit, bool):
            raise row.refusal("hit_at_k", "true or false", shown(hit))
        labels = [row.required(name) for name in ("category", "topic", "tid")]
        gold, ranked = row.ids("target_sids"), row.ids("retrieved_sids")
        if len(places) != len(ranked):
            raise row.refusal("retrieved_global", f"{len(ranked)} places, as many as retrieved_sids", str(len(places)))
        self.hit = hit
        self.by_number, self.by_place = (not set(gold).isdisjoint(ids) for ids in (ranked, places))
        self.question = ImportedQuestion(
            id="/".join(labels),
            gold=gold,
            ranked=ranked,
            kinds={"category": labels[0], "topic": labels[1]},
            text=row.required("question"),
            stated={measure: float(hit)},
        )


def _unstated(rows: Sequence[_MemBenchRow], depth: int) -> Iterator[str]:
    yield "the file states no dataset hash, no version and no settings"
    yield f"rows keep {depth} ids: what lies deeper is not there"
    yield (
        f"a hit is stated in {sum(row.hit for row in rows)} of {len(rows)} rows; by the turn's own number it is in "
        f"{sum(row.by_number for row in rows)}, by its place in the file in {sum(row.by_place for row in rows)}, by "
        f"either in {sum(row.by_number or row.by_place for row in rows)}"
    )
    twice = sum(len(set(row.question.ranked)) < len(row.question.ranked) for row in rows)
    if twice:
        yield f"{twice} rankings list a number twice: there a number does not name one turn"


NAME = "mempalace-membench"
LAYOUT = Layout(NAME, "MemPalace's rows on MemBench", recognises, read)
