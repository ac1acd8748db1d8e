"""The board: audited results in groups of what is comparable, and what is apart, each with the reason."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from recallbench.audit.folder_state import folder_state, refuse_changed
from recallbench.audit.kept_audits import KeptAudits
from recallbench.audit.shared_readings import SharedReadings
from recallbench.compare.entrant import Entrant
from recallbench.compare.standings import asked_of, why_not_beside
from recallbench.corpora.labelled_sets.set_name import short_names
from recallbench.errors import RecallBenchError
from recallbench.foreign.entrants import corpus_gold, placed_entrant, run_hits
from recallbench.foreign.placing import placed_run
from recallbench.progress import Progress
from recallbench.results.folder import BLOCKED
from recallbench.results.result import open_with_manifest
from recallbench.scoring.measures.measure import Measure
from recallbench.site.admission import admit
from recallbench.site.choices import SiteChoices
from recallbench.site.entry import Entry, rescored_entry, result_entry
from recallbench.site.local_words import publishable
from recallbench.site.places import Place


@dataclass(slots=True, eq=False)
class Group:
    """Entries that were asked the same."""

    base: Entrant
    """The first of them, with its rankings whole: what the others are held to."""
    asked: str
    corpus: str
    entries: list[Entry] = field(default_factory=list)
    """Results whose audit holds."""
    rescored: list[Entry] = field(default_factory=list)
    """Rankings that others published, judged by this group's gold."""

    @property
    def size(self) -> int:
        """How many stand in it."""
        return len(self.entries) + len(self.rescored)


@dataclass(frozen=True, slots=True)
class Apart:
    """A folder or file that is on no board, and why."""

    place: Place
    reason: str


@dataclass(frozen=True, slots=True)
class Board:
    """All groups, the largest first, and what is apart."""

    groups: Sequence[Group]
    apart: Sequence[Apart]

    @property
    def admitted(self) -> int:
        """How many results are on it."""
        return sum(len(group.entries) for group in self.groups)

    @property
    def rescored(self) -> int:
        """How many rankings of others are on it."""
        return sum(len(group.rescored) for group in self.groups)

    def why_apart(self, group: Group) -> str:
        """Return why a group does not stand with the first one; empty of that itself."""
        return "" if group is self.groups[0] else publishable(why_not_beside(self.groups[0].base, group.base))


def make_board(places: Sequence[Place], choices: SiteChoices, progress: Progress) -> Board:
    """Audit each result and judge the rankings of others; one folder at a time is in memory."""
    groups: list[Group] = []
    apart: list[Apart] = []
    kept, shared = KeptAudits(choices.kept_audits), SharedReadings()
    results = [place for place in places if place.kind == "result"]
    with progress.stage("the board", len(results), "results") as advance:
        for place in results:
            reason = _add_result(groups, place, choices, progress, kept, shared)
            apart += [Apart(place, reason)] if reason else []
            advance(1)
    if kept.reused:
        progress.note(f"{kept.reused} of {len(results)} audits had been made of the same bytes before, by you")
    for place in places:
        if place.kind in ("published", "run"):
            try:
                _add_rescored(groups, place, choices)
            except RecallBenchError as error:
                apart.append(Apart(place, publishable(error.brief)))
    groups = _by_size(groups)
    for group in groups:
        for entries in (group.entries, group.rescored):
            entries.sort(key=lambda entry: (-_leading(entry), entry.name))
    return Board(groups, sorted(apart, key=lambda each: each.place.name))


def _add_result(
    groups: list[Group],
    place: Place,
    choices: SiteChoices,
    progress: Progress,
    kept: KeptAudits,
    shared: SharedReadings,
) -> str:
    """Put a result into the group that it belongs to; return why it is in none."""
    if (place.path / BLOCKED).is_file():
        return f"{BLOCKED}: the run could not be made"
    try:
        state = folder_state(place.path)
        result = open_with_manifest(place.path)
        admission = admit(
            result,
            choices.corpus_files,
            choices.environ,
            progress,
            kept,
            shared,
            state,
            verified=choices.verified,
            cache_dir=choices.cache_dir,
        )
        if admission.why_not:
            return admission.why_not
        if shallow := _too_shallow(result.metrics.retrieval.depth, choices.measures):
            return shallow
        entrant = Entrant(place.name, result.rankings, result)
        group = next((group for group in groups if not why_not_beside(group.base, entrant)), None)
        known = group is not None
        group = group or Group(entrant, publishable(asked_of(entrant)), result.metrics.corpus.name)
        remarks = [admission.remark] if admission.remark else []
        base, verdict = group.base.rankings, admission.verdict
        entry = result_entry(place, result, base, choices.measures, choices.prices, verdict, remarks, state)
        refuse_changed(place.path, state, place.name)  # what is shown is what was audited
    except (RecallBenchError, OSError) as error:
        return publishable(error.brief if isinstance(error, RecallBenchError) else str(error))
    if not known:
        groups.append(group)
    group.entries.append(entry)
    return ""


def _add_rescored(groups: list[Group], place: Place, choices: SiteChoices) -> None:
    """Judge the rankings of others by the group that asked their questions, else by the corpus itself."""
    fitting = _by_size(groups)
    if place.kind == "published":
        corpus, run = placed_run(place.path, choices.corpus_files, choices.environ)
        fitting = [group for group in fitting if group.corpus == corpus]
        if not fitting:
            depth = max(measure.k for measure in choices.measures)
            base = corpus_gold(corpus, depth, choices.corpus_files, choices.environ)
            questions = int(base.answerable.sum())
            asked = publishable(f"{short_names(corpus)}, {questions} questions")
            fitting = [Group(Entrant(place.name, base), asked, corpus)]
    else:
        run = run_hits(place.path, choices.ties)
    group = max(fitting, key=lambda group: len(run.keys() & set(group.base.rankings.questions)), default=None)
    if group is None:
        raise _without_gold()
    base = group.base.rankings
    entry = rescored_entry(place, placed_entrant(place.name, run, base), base, choices.measures)
    if not any(group is known for known in groups):
        groups.append(group)
    group.rescored.append(entry)


def _without_gold() -> RecallBenchError:
    return RecallBenchError(
        "nothing to judge it by", expected="an audited result over the same questions on the board", found="none"
    )


def _too_shallow(depth: int, measures: Sequence[Measure]) -> str:
    return f"depth: {depth}, which {measures[0]} is beyond" if measures[0].k > depth else ""


def _by_size(groups: Sequence[Group]) -> list[Group]:
    return sorted(groups, key=lambda group: (-group.size, group.asked, _names(group)))


def _names(group: Group) -> list[str]:
    return sorted(entry.name for entry in (*group.entries, *group.rescored))


def _leading(entry: Entry) -> float:
    estimate = entry.estimates[0]
    return -1.0 if estimate is None or estimate.value is None else estimate.value


def every_entry(board: Board) -> Iterator[Entry]:
    """Yield the entries of all groups, in their order."""
    for group in board.groups:
        yield from group.entries
        yield from group.rescored
