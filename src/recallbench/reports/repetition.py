"""One configuration measured several times: `repeat.json`, `repeat.md` and the printed summary."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from shlex import quote
from typing import Literal

from pydantic import Field

from recallbench.corpora.labelled_sets.set_name import short_names
from recallbench.escaping.markdown import code, inline, opening
from recallbench.reports.cells import figure
from recallbench.reports.page import Page, listing
from recallbench.reports.part import DocumentPart
from recallbench.reports.printing.conclusion import Conclusion
from recallbench.reports.printing.printed import Printed
from recallbench.reports.table import Link, Table

JSON, MARKDOWN = "repeat.json", "repeat.md"
SHOWN = 20
"""Questions that repeat.md lists; repeat.json has all."""
OWN_STORES = ("callable", "python:", "http:", "https:")
"""What the name of a user's own store begins with."""
NOT_HELD = "not applicable: "
"""The start of what is told of a band that does not judge."""


class PassPart(DocumentPart):
    name: str = Field(description="the run's folder, or the file of rankings without its ending")
    state: Literal["cold", "warm"]
    values: dict[str, float | None] = Field(description="by measure")
    rankings_sha256: str = Field(description="of its rows; equal where every id, rank and score is")
    content_sha256: str = Field(description="of the run's manifest; empty for a warm pass, which has none")


class SpreadPart(DocumentPart):
    measure: str
    minimum: float
    maximum: float
    range: float
    mean: float
    sd: float = Field(description="with n - 1")
    cold_range: float
    warm_range: float | None = Field(description="null where nothing was asked warm")


class BandPart(DocumentPart):
    protocol_name: str
    measure: str
    width: float | None = Field(description="null where the protocol registers none")
    apart: float | None = Field(description="between the two passes furthest from each other")
    inside: bool | None = Field(description="null where no band judges these passes")
    told: str


class MovedPart(DocumentPart):
    question_id: str
    found: list[bool] = Field(description="recall_any@10, by pass")
    first_gold: list[int | None] = Field(description="rank of the first gold segment, by pass; null beyond the depth")

    @property
    def flips(self) -> bool:
        """Whether some passes find it among the first ten, and others do not."""
        return len(set(self.found)) > 1


class Repetition(DocumentPart):
    """Several runs of one configuration."""

    schema_version: Literal["1"]
    recallbench_version: str
    protocol: str
    corpus: str
    dataset_sha256: str
    store: str = Field(description="with what of its settings is not its default")
    version: str = Field(description="as the store states it")
    embedder: str
    n: int = Field(description="questions counted")
    deviations: list[str]
    cold: str = Field(description="what a cold run was here")
    warm: str = Field(description="what a warm pass was here, or why there is none")
    limits: list[str] = Field(description="sources of spread that were not let in")
    unlike: list[str] = Field(description="settings that were not the same in all runs; none should be")
    same_content: bool = Field(description="content_sha256 agrees over all runs")
    same_rankings: bool = Field(description="every pass gave the same ids, ranks and scores")
    passes: list[PassPart]
    spread: list[SpreadPart]
    bands: list[BandPart]
    moved: list[MovedPart] = Field(
        description="questions whose first gold segment changed its rank, or was found or not"
    )

    @property
    def holds(self) -> bool:
        """Whether every spread is inside its band, and all runs were of one configuration."""
        return not self.unlike and all(band.inside is not False for band in self.bands)


def title(repetition: Repetition) -> str:
    """Return corpus, passes, store and embedder in a line."""
    cold = sum(pass_.state == "cold" for pass_ in repetition.passes)
    warm = len(repetition.passes) - cold
    return (
        f"{short_names(repetition.corpus)}: {cold} cold runs and {warm} warm passes of {repetition.store} "
        f"with {repetition.embedder}; {repetition.version}"
    )


def findings(repetition: Repetition) -> list[str]:
    """Return the findings, a sentence each."""
    flips = sum(question.flips for question in repetition.moved)
    lines = [f"{band.protocol_name} ({band.measure}): {band.told}" for band in repetition.bands]
    lines += [f"not one configuration: {setting}" for setting in repetition.unlike]
    lines.append(f"content_sha256 of the runs: {'all equal' if repetition.same_content else 'they differ'}")
    lines.append(
        "rankings: identical in every pass, to the last score"
        if repetition.same_rankings
        else f"rankings: they differ; {flips} of {repetition.n} questions flip at 10, "
        f"{len(repetition.moved)} have their first gold segment at another rank"
    )
    return lines


def conditions(repetition: Repetition) -> list[str]:
    """Return how runs were repeated, and which sources of spread that leaves out."""
    return [
        f"protocol {repetition.protocol}; {repetition.n} questions of {short_names(repetition.corpus)}",
        f"deviations: {'; '.join(repetition.deviations) or 'none'}",
        *circumstances(repetition),
    ]


def circumstances(repetition: Repetition) -> list[str]:
    """Return the same without what the protocol says of it."""
    return [
        f"cold: {repetition.cold}",
        f"warm: {repetition.warm}",
        *(f"not let in: {limit}" for limit in repetition.limits),
    ]


def conclusion(repetition: Repetition, folder: Path, kept: int = 0) -> Conclusion:
    """Return whether runs agree, what that allows to say, and what to do next; `kept` runs were there before."""
    passes = _passes(repetition)
    told = [*([f"{kept} of the runs from before an interruption"] if kept else []), *_flips(repetition)]
    judged = [(band, band.apart) for band in repetition.bands if band.apart is not None]
    if repetition.unlike:
        return Conclusion(
            f"{passes} are not of one configuration: {', '.join(repetition.unlike)} changed between them",
            "so their spread is no noise, and no band judges it",
            "repeat it while nothing else changes",
            tone="bad",
        )
    if not judged:
        return Conclusion(f"No question counts, so that {passes} say nothing", tone="bad")
    compare = f"recallbench compare {quote(str(folder / repetition.passes[0].name))} OTHER"
    if repetition.same_rankings:
        unlike = [] if repetition.same_content else ["what else they recorded differs"]
        return Conclusion(
            "; ".join([f"{passes} give the same rankings, to the last score", *unlike, *told]),
            "so no noise of the store is seen, and one run will do (vectors were computed once)",
            f"hold it against another system: {compare}",
        )
    moves = [f"{band.measure} moves by {apart:.4f}" for band, apart in judged if apart > 0]
    apart = max(apart for _, apart in judged)
    still = " and ".join(band.measure for band, _ in judged)
    moved = f"{' and '.join(moves)} between {passes}" if moves else f"{passes} rank differently, but keep their {still}"
    happened = "; ".join([_banded(moved, judged), *told])
    if not repetition.holds:
        return Conclusion(
            happened,
            f"so no single run can be believed beyond {apart:.4f}",
            f"look for what moves: {folder / MARKDOWN} lists the questions",
            tone="bad",
        )
    return Conclusion(
        happened,
        "so one run can stand for all" + (f", but tells no difference up to {apart:.4f}" if apart > 0 else ""),
        f"hold it against another system: {compare}",
        tone="good" if any(band.inside for band, _ in judged) else "open",
    )


def _passes(repetition: Repetition) -> str:
    cold = sum(pass_.state == "cold" for pass_ in repetition.passes)
    warm = len(repetition.passes) - cold
    return f"{cold} cold and {warm} warm runs" if warm else f"{cold} cold runs"


def _flips(repetition: Repetition) -> list[str]:
    flips = sum(question.flips for question in repetition.moved)
    if not repetition.moved:
        return []
    return [f"{flips} of {repetition.n} questions {'flips' if flips == 1 else 'flip'} at 10"]


def _banded(moved: str, judged: Sequence[tuple[BandPart, float]]) -> str:
    """Return the movement with the bands that it is held to, or why it is held to none."""
    if outside := [band for band, _ in judged if band.inside is False]:
        return f"{moved}, outside the band of {' and '.join(f'{band.width:g} of {band.measure}' for band in outside)}"
    inside = [band for band, _ in judged if band.inside]
    if inside:
        widths = " and ".join(f"{band.width:g}" for band in inside)
        return f"{moved}, within the band{'s' if len(inside) > 1 else ''} of {widths}"
    return f"{moved}; held to no band: {judged[0][0].told.removeprefix(NOT_HELD)}"


def printed(repetition: Repetition, folder: Path, kept: int = 0) -> Printed:
    """Return what `recallbench repeat` prints: of one's own data or store without how it departs from the protocol."""
    own = repetition.store.startswith(OWN_STORES) or all(band.width is None for band in repetition.bands)
    below = [*findings(repetition), *(circumstances if own else conditions)(repetition)]
    page = [*listing(below), *spread_table(repetition).html()]
    return Printed(
        title(repetition),
        [title(repetition), spread_table(repetition), *below, f"report: {(folder / MARKDOWN).absolute()}"],
        repetition.model_dump(mode="json"),
        conclusion(repetition, folder, kept),
        own_markdown=markdown(repetition),
        own_page=Page(title(repetition), page).html(),
        own_sheet=_sheet(repetition),
    )


def _sheet(repetition: Repetition) -> Table:
    """Return a row for each measure with every digit, for a spreadsheet."""
    fields = list(SpreadPart.model_fields)
    rows = [
        ["" if (value := getattr(spread, name)) is None else str(value) for name in fields]
        for spread in repetition.spread
    ]
    return Table(fields, rows)


def spread_table(repetition: Repetition) -> Table:
    """Return the spread, a row for each measure."""
    rows = [
        (
            spread.measure,
            *(figure(value) for value in (spread.minimum, spread.maximum, spread.range)),
            *(figure(value, 5) for value in (spread.sd, spread.cold_range, spread.warm_range)),
        )
        for spread in repetition.spread
    ]
    return Table(("measure", "min", "max", "range", "sd", "cold range", "warm range"), rows)


def markdown(repetition: Repetition) -> str:
    """Return `repeat.md`."""
    lines = [f"# {inline(title(repetition))}", "", *(f"- {opening(line)}" for line in findings(repetition)), ""]
    lines += ["## How it was repeated", "", *(f"- {opening(line)}" for line in conditions(repetition)), ""]
    lines += ["## Spread over all passes", "", *spread_table(repetition).markdown(), ""]
    lines += ["## Passes", "", *_pass_table(repetition).markdown(), ""]
    if repetition.moved:
        lines += ["## Questions that moved", "", *_moved_table(repetition).markdown(), ""]
        if len(repetition.moved) > SHOWN:
            lines += [f"{len(repetition.moved) - SHOWN} more are in `{JSON}`.", ""]
    return "\n".join(lines).rstrip() + "\n"


def _pass_table(repetition: Repetition) -> Table:
    measures = list(repetition.passes[0].values) if repetition.passes else []
    primary = [band.measure for band in repetition.bands if band.measure in measures]
    rows = [
        [
            Link(pass_.name, f"{pass_.name}/report.md" if pass_.content_sha256 else f"{pass_.name}.jsonl"),
            pass_.state,
            *(figure(pass_.values[measure]) for measure in primary),
            code(pass_.rankings_sha256[:12]),
        ]
        for pass_ in repetition.passes
    ]
    return Table(("pass", "index", *primary, "rankings"), rows)


def _moved_table(repetition: Repetition) -> Table:
    flipping_first = sorted(repetition.moved, key=lambda question: not question.flips)
    rows = [
        [
            question.question_id,
            "flips" if question.flips else "moves",
            ", ".join("–" if rank is None else str(rank) for rank in question.first_gold),
        ]
        for question in flipping_first[:SHOWN]
    ]
    return Table(("question", "at 10", "rank of the first gold"), rows)
