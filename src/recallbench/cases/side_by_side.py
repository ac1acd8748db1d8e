"""Several reports, or results, side by side: best first, with letters for those that can't be told apart."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any, Generic, TypeVar, overload

import numpy as np

from recallbench.cases.loaded_result import LoadedResult, load
from recallbench.cases.report import Report
from recallbench.compare.entrant import Entrant
from recallbench.compare.standings import standings
from recallbench.errors import UsageError
from recallbench.reports import standings as shown
from recallbench.reports.display import Display
from recallbench.reports.plot import Plot
from recallbench.reports.standings import Standings
from recallbench.reports.table import Part, Table
from recallbench.results.metrics import EstimatePart
from recallbench.results.rankings import Rankings
from recallbench.results.result import Result
from recallbench.scoring.judgement import Bools
from recallbench.scoring.measures.measure import Measure
from recallbench.scoring.measures.registry import PRIMARY, parse

FORMS = "{name: report}, or result folders"
System = TypeVar("System", bound=Report | Result, covariant=True)


class SideBySide(Display, Mapping[str, System], Generic[System]):
    """Systems that were asked the same, by name, with their standings; a notebook shows table and plot.

    Those that share a letter can't be told apart by paired tests on the first measure, corrected by Holm for all pairs.
    """

    def __init__(self, systems: Mapping[str, System], ranked: Standings) -> None:
        self._systems = dict(systems)
        self.standings = ranked
        """The document: figures, letters, controls, and what stands apart with the reason."""

    def __getitem__(self, name: str) -> System:
        return self._systems[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._systems)

    def __len__(self) -> int:
        return len(self._systems)

    @property
    def best(self) -> str:
        """The name of the first one; others may share its letter."""
        return self.standings.standings[0].name

    @property
    def letters(self) -> dict[str, str]:
        """The letters of each, best first; what stands apart has none."""
        return {standing.name: standing.letters for standing in self.standings.standings}

    def table(self) -> Table:
        """Return a row for each, best first, with interval, p95 and the parameters or settings that differ."""
        return shown.table(self.standings)

    def plot(self) -> Plot:
        """Return the first measure of each with its interval, drawn."""
        return shown.plot(self.standings)

    def displayed(self) -> list[Part | Plot]:
        """Return the tables, how to read them, and the plot."""
        apart = [shown.apart_table(self.standings)] if self.standings.apart else []
        title, notes = shown.title(self.standings), shown.reading(self.standings)
        return [title, self.table(), *apart, *notes, self.plot()]


Folder = Result | str | PathLike[str]


@overload
def table(  # type: ignore[overload-overlap] # names are no folders where they have reports
    systems: Mapping[str, Report], measures: str | Sequence[str] | None = None
) -> SideBySide[Report]: ...
@overload
def table(
    systems: Mapping[str, Folder] | Iterable[Folder], measures: str | Sequence[str] | None = None
) -> SideBySide[LoadedResult]: ...
def table(systems: Any, measures: str | Sequence[str] | None = None) -> SideBySide[Any]:
    """Return reports, or results, side by side as `recallbench table` does: best first by the first of `measures`.

    `systems` are {name: report}, {name: result} or a list of results; a result is its folder's path or what `load`
    returned. Those that share a letter can't be told apart by paired tests, corrected by Holm for all pairs. Without
    `measures` they are those of the first report, or recall_any@10 and mrr@50. What was asked something else stands
    apart, with the reason.
    """
    if isinstance(systems, Mapping):
        named = {str(name): _opened(system) for name, system in systems.items()}
    elif isinstance(systems, Iterable) and not isinstance(systems, (str, PathLike)):
        opened = [_opened(system) for system in systems]
        if any(isinstance(system, Report) for system in opened):
            raise UsageError("reports need names", expected="table({name: report})", found="a list")
        named = {str(result.folder): result for result in opened}
    else:
        raise UsageError("a table is of several", expected=FORMS, found=f"a {type(systems).__name__}")
    return side_by_side(named, measures)


def _opened(system: Any) -> Any:
    if isinstance(system, (Report, LoadedResult)):
        return system
    if isinstance(system, Result):
        return LoadedResult(system.folder, system.metrics)
    if isinstance(system, (str, PathLike)):
        return load(system)
    raise UsageError("this has no place in a table", expected=FORMS, found=f"a {type(system).__name__}")


def side_by_side(systems: Mapping[str, System], measures: str | Sequence[str] | None = None) -> SideBySide[System]:
    """Return systems side by side; see `table`."""
    if not systems:
        raise UsageError("there is nothing to show", expected="one or more, by name", found="none")
    first = next(iter(systems.values()))
    usual = list(first.columns) if isinstance(first, Report) else list(PRIMARY)
    named = [measures] if isinstance(measures, str) else measures
    chosen = usual if named is None else [parse(measure) for measure in named]
    if not chosen:
        raise UsageError("measures name none", expected='["recall_any@10"]', found="none")
    reports = [system for system in systems.values() if isinstance(system, Report)]
    params = dict.fromkeys(name for report in reports for name in report.params)
    entrants = [
        _of_report(name, system, params) if isinstance(system, Report) else Entrant(name, system.rankings, system)
        for name, system in systems.items()
    ]
    return SideBySide(systems, standings(entrants, chosen))


def _of_report(name: str, report: Report, params: Mapping[str, None]) -> Entrant:
    failed = len(report.failures)
    return Entrant(
        name,
        _rankings(name, report),
        note=f"{failed} of {len(report)} failed, which count as empty rankings" if failed else "",
        settings={param: str(report.params.get(param, "–")) for param in params},
        p95_ms=report.latency_p95_ms,
        basis={
            "k": str(report.k),
            "matching": str(report.matching),
            "cases": hashlib.sha256(json.dumps([case.sha256 for case in report.cases]).encode()).hexdigest()[:12],
        },
    )


@dataclass(frozen=True, slots=True, eq=False)
class CaseRankings(Rankings):
    """The rankings of a report. Where nothing says how many items could come back, there is no level of chance."""

    chance_is_known: bool = True

    def estimates(self, measures: Sequence[Measure], keep: Bools | None = None) -> list[EstimatePart]:
        """Return the estimate of each measure over all cases, or those of `keep`."""
        estimates = Rankings.estimates(self, measures, keep)
        if self.chance_is_known:
            return estimates
        return [estimate.model_copy(update={"chance": None, "saturated": None}) for estimate in estimates]


def _rankings(name: str, report: Report) -> Rankings:
    judged = report.judged
    if report.candidates is None:
        # Else it would follow from what came back, and so differ between systems. At least all that is relevant.
        sizes = [len(case.relevant) + 2 * judged.depth for case in report.cases]
        judged = replace(judged, candidates=np.array(sizes, dtype=np.int64))
    return CaseRankings(
        origin=name,
        questions=tuple(case.name for case in report.cases),
        clusters=report.clusters or ("",) * len(report),
        # What is relevant is compared by its ids; texts have no place before they came back.
        gold=(frozenset(),) * len(report),
        calls=(judged,),
        kinds=tuple(case.kind or "" for case in report.cases),
        gold_ids=tuple(tuple(map(str, case.relevant)) for case in report.cases),
        hit_ids=(tuple(tuple(map(str, answer.ids)) for answer in report.answers),),
        chance_is_known=report.candidates is not None,
    )
