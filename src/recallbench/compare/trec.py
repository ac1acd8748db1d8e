"""TREC runs to compare, judged by qrels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from recallbench.compare.dependent_ids import dependence_note
from recallbench.compare.side import Side
from recallbench.corpora.stream import sha256_of
from recallbench.errors import InputError, UsageError
from recallbench.reading import lines
from recallbench.reports.comparison import SidePart
from recallbench.results.known_texts import KnownTexts
from recallbench.results.rankings import Rankings
from recallbench.results.trec import Ties, in_order_of, read_qrels, read_run
from recallbench.scoring.judgement import judge
from recallbench.scoring.measures.measure import Measure

DEPTH = "depth"
"""The difference that may be allowed: one run's longest ranking is shorter, though both had the same depth."""
NAMED = 5
"""How many questions a note names."""

_Run = Mapping[str, Sequence[tuple[str, float]]]


def trec_sides(
    runs: Sequence[Path],
    qrels: Path,
    measures: Sequence[Measure],
    clusters: Path | None,
    prefix: str | None,
    allow_depth: bool,
    ties: Ties = "file",
) -> list[Side]:
    """Return the runs, over every question of the qrels that has a relevant document (grade 1 or more).

    A judged question that a run does not answer counts as an empty ranking, as with trec_eval's -c. Raises InputError
    where a run answers none of them or a question has no cluster, and UsageError where one run is cut off above a
    measure that the other reaches. `ties` is the order of equal scores.
    """
    judged = {question: grades for question, grades in read_qrels(qrels).items() if max(grades.values()) > 0}
    if not judged:
        raise InputError(
            f"{qrels} has no relevant document",
            expected="at least one judgement of 1 or more",
            found="none",
            remedy="check the file given with --qrels",
        )
    ranked = [{question: in_order_of(ties, hits) for question, hits in read_run(path).items()} for path in runs]
    for path, run in zip(runs, ranked, strict=True):
        if not judged.keys() & run.keys():
            raise InputError(
                f"{path} answers no question of {qrels}",
                expected=f"questions such as {next(iter(judged))}",
                found=f"questions such as {next(iter(run), '(none)')}",
                remedy="name the qrels that belong to the runs",
            )
    _same_depth(runs, ranked, measures, allow_depth)
    # Positions cover the documents of all runs and the judgements, so that all sides have the same haystacks.
    numbers: list[dict[str, int]] = []
    for question, grades in judged.items():
        names = [*grades, *(document for run in ranked for document, _ in run.get(question, ()))]
        numbers.append({name: number for number, name in enumerate(dict.fromkeys(names))})
    cluster_of = _clusters(tuple(judged), clusters, prefix)
    dependent = "" if cluster_of else dependence_note(tuple(judged))
    sides = [_side(path, run, judged, numbers, measures, cluster_of) for path, run in zip(runs, ranked, strict=True)]
    return [replace(side, notes=(dependent, *side.notes)) for side in sides] if dependent else sides


def place_run(name: str, run: Mapping[str, Sequence[str]], base: Rankings) -> Rankings:
    """Return the rankings of a run, as ids by question, judged against the gold of a result with the same ids.

    Documents of a labelled set may go by their own names, too.

    A question that it does not answer has an empty ranking. Raises InputError where it answers none of them, where one
    ranking is longer than its haystack, and where the gold has grades, which a result's rankings do not keep.
    """
    if not {question for question, ids in run.items() if ids} & set(base.questions):
        raise InputError(
            f"{name} answers no question of {base.origin}",
            expected=f"questions such as {base.questions[0]}",
            found=f"questions such as {next(iter(run), '(none)')}",
            remedy="name the judgements that belong to it with --qrels",
        )
    if base.calls[-1].has_grades.any():
        raise InputError(
            f"{name} can't be judged by {base.origin}, whose gold has grades",
            expected="judgements with these grades",
            found="none",
            remedy="name them with --qrels",
        )
    call = base.calls[-1]
    hits = tuple(
        tuple(dict.fromkeys(by_name.get(name, name) for name in run.get(question, ())))[: call.depth]
        for question, gold_ids in zip(base.questions, base.gold_ids, strict=True)
        for by_name in [{base.name_of(id): id for id in gold_ids}]
    )
    positions = []
    for question, ids, gold, gold_ids, size in zip(
        base.questions, hits, base.gold, base.gold_ids, call.candidates.tolist(), strict=True
    ):
        # Any place will do for a segment that is no gold: only gold counts.
        places = dict(zip(gold_ids, sorted(gold), strict=True))
        others = [id for id in ids if id not in places]
        free = [position for position in range(size) if position not in gold]
        if len(others) > len(free):
            raise InputError(
                f"{name}: {question} has more hits than segments",
                expected=f"at most {size}",
                found=str(len(ids)),
                remedy="check that its ids are those of one haystack",
            )
        places |= zip(others, free, strict=False)
        positions.append([places[id] for id in ids])
    judged = judge(positions, base.gold, call.candidates.tolist(), call.depth, one_find=call.one_enough.tolist())
    return replace(base, origin=name, calls=(judged,), hit_ids=(hits,), first_scores=())


def read_clusters(path: Path) -> dict[str, str]:
    """Return the cluster of each question, a line each; raises InputError, naming the line, for anything else."""
    clusters: dict[str, str] = {}
    for number, line in lines(path):
        fields = line.split()
        if not fields:
            continue
        if len(fields) != 2 or fields[0] in clusters:
            raise InputError(
                f"{path}, line {number}: not a question and its cluster",
                expected="two columns: question cluster, each question once",
                found=f"{fields[0]} again" if len(fields) == 2 else f"{len(fields)} columns",
                remedy="mend the file, or leave --clusters out where questions are independent",
            )
        clusters[fields[0]] = fields[1]
    return clusters


def _clusters(questions: Sequence[str], file: Path | None, prefix: str | None) -> Mapping[str, str]:
    """Return the cluster of each question. A question without the prefix is independent."""
    if prefix is not None:
        cluster_of = {question: question.rpartition(prefix)[0] if prefix else "" for question in questions}
        if not any(cluster_of.values()):
            raise UsageError(
                f"--cluster-prefix {prefix!r} gives no question a cluster",
                expected="the mark behind the cluster's name in each id",
                found=f"questions such as {questions[0]}",
                remedy="leave it out where questions are independent",
            )
        return cluster_of
    if file is None:
        return {}
    cluster_of = read_clusters(file)
    missing = [question for question in questions if question not in cluster_of]
    if missing:
        raise InputError(
            f"{file} has no cluster for {_named(missing)}",
            expected="a line for every judged question",
            found=f"{len(cluster_of)} lines",
            remedy="add the missing lines; a question that stands alone gets a cluster of its own",
        )
    return cluster_of


def _side(
    path: Path,
    run: _Run,
    judged: Mapping[str, Mapping[str, int]],
    numbers: Sequence[Mapping[str, int]],
    measures: Sequence[Measure],
    clusters: Mapping[str, str],
) -> Side:
    hits = tuple(tuple(document for document, _ in run.get(question, ())) for question in judged)
    gold = [frozenset(names[d] for d, grade in grades.items() if grade > 0) for grades, names in _zip(judged, numbers)]
    grades = [
        {names[d]: float(grade) for d, grade in grades.items() if grade > 0} for grades, names in _zip(judged, numbers)
    ]
    rankings = Rankings(
        origin=path.name,
        questions=tuple(judged),
        clusters=tuple(clusters.get(question, "") for question in judged),
        gold=tuple(gold),
        calls=(
            judge(
                [[names[d] for d in documents] for documents, names in zip(hits, numbers, strict=True)],
                gold,
                [len(names) for names in numbers],
                max(measure.k for measure in measures),
                grades,
            ),
        ),
        kinds=("",) * len(judged),
        gold_ids=tuple(tuple(d for d, grade in grades.items() if grade > 0) for grades in judged.values()),
        hit_ids=(hits,),
    )
    missing = [question for question in judged if question not in run]
    extra = [question for question in run if question not in judged]
    notes = []
    if missing:
        notes.append(f"{path}: {_named(missing)} not answered, which counts as an empty ranking")
    if extra:
        notes.append(f"{path}: {_named(extra)} without a relevant document in the qrels, left out")
    part = SidePart(
        name=str(path),
        store="",
        version="",
        embedder="",
        verdict="a TREC run, which nothing vouches for",
        canonical=False,
        content_sha256=sha256_of(path),
    )
    return Side(part=part, rankings=rankings, notes=tuple(notes), texts=lambda chosen: KnownTexts())


def _zip(
    judged: Mapping[str, Mapping[str, int]], numbers: Sequence[Mapping[str, int]]
) -> zip[tuple[Mapping[str, int], Mapping[str, int]]]:
    return zip(judged.values(), numbers, strict=True)


def _same_depth(runs: Sequence[Path], ranked: Sequence[_Run], measures: Sequence[Measure], allowed: bool) -> None:
    # A run does not state its depth: that of its longest ranking is taken.
    depths = [max(map(len, run.values()), default=0) for run in ranked]
    least, most = depths.index(min(depths)), depths.index(max(depths))
    shallow = depths[least]
    if depths[most] > shallow and not allowed and (deeper := [m for m in measures if m.k > shallow]):
        first, second = sorted((least, most))
        raise UsageError(
            f"{runs[first]} and {runs[second]} can't be compared on {deeper[0]}: they differ in depth",
            expected=f"measures at {shallow} or less, or runs of one depth",
            found=f"rankings up to {depths[first]} deep against up to {depths[second]}",
            remedy=f"choose --measures at {shallow} or less; if both were asked equally deep, say --allow {DEPTH}",
        )


def _named(questions: Sequence[str]) -> str:
    more = f" and {len(questions) - NAMED} more" if len(questions) > NAMED else ""
    return f"{len(questions)} question{'s' if len(questions) > 1 else ''} ({', '.join(questions[:NAMED])}{more})"
