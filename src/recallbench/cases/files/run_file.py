"""Rankings from a file, put to the cases of a gold file: a TREC run, JSON Lines, or {query: {id: score}}."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recallbench.cases.answer import Answer, check_answer
from recallbench.cases.case import Case
from recallbench.cases.files.records import Record, form_of, id_text, records
from recallbench.errors import InputError
from recallbench.reading import objects
from recallbench.results.trec import Refused, Ties, in_order_of, read_run

NAMED = 5
"""Queries that a note names, at most."""
EXCERPT = 160


@dataclass(frozen=True, slots=True)
class RunFile:
    """The answers of a file to the cases, in their order."""

    answers: tuple[Answer, ...]
    texts: Mapping[str, str]
    """The texts of hits by id, where the file has them."""
    notes: tuple[str, ...]
    refused: tuple[InputError, ...] = ()
    """The errors of lines that answer no query of the gold."""

    @property
    def depth(self) -> int:
        """Return the length of the longest ranking."""
        return max((len(answer.ids) for answer in self.answers), default=0)


def read_answers(
    path: Path,
    cases: Sequence[Case],
    *,
    keep_going: bool = False,
    by_text: bool = False,
    ties: Ties = "file",
    passed_over: Collection[str] = (),
) -> RunFile:
    """Return an answer to each case; a query that the file lacks counts as an empty ranking, and is named in a note.

    Raises InputError, naming the query, for a ranking that is none (`keep_going` keeps it as a failure), and where the
    file answers none of the cases. With `by_text` a hit without an id is its own text. `ties` says in which order equal
    scores stand; answers to queries that the gold passed over are no strangers.
    """
    names = {case.name: n for n, case in enumerate(cases)}
    texts_of_queries = {case.query: n for n, case in enumerate(cases)}
    answers: dict[int, Answer] = {}
    texts: dict[str, str] = {}
    strange: list[str] = []
    refused = Refused()
    for record in _records(path, refused if keep_going else None):
        number = names.get(record.name)
        if number is None and record.query is not None:
            number = texts_of_queries.get(record.query)
        if number is None and record.name in passed_over:
            continue
        if number is None:
            strange.append(record.name)
            continue
        case = cases[number]
        try:
            if number in answers:
                raise record.wrong("answered twice", "each query once", f"{record.name} again")
            hits = check_answer(case, _hits(record, texts, by_text), repeats=by_text, ms=_ms(record))
            answers[number] = _ordered(case, hits, ties)
        except InputError as error:
            problem = error.problem if error.problem.startswith(record.place) else f"{record.place}: {error.problem}"
            remedy = "mend the file, or go on with --keep-going"
            failure = InputError(problem, expected=error.expected, found=error.found, remedy=remedy)
            if not keep_going:
                raise failure from None
            answers[number] = Answer((), None, failure)
    for query, reason in refused.items():
        if query in names:
            answers[names[query]] = Answer((), None, reason)
    lost = [reason for query, reason in refused.items() if query not in names]
    if not answers:
        raise InputError(
            f"{path} answers no query of the gold",
            expected=f"queries such as {cases[0].name!r}",
            found=f"queries such as {strange[0]!r}" if strange else "no query at all",
            remedy="name the gold that belongs to the run",
        )
    missing = [case.name for number, case in enumerate(cases) if number not in answers]
    notes = []
    if missing and lost:
        # One of the lines that can't be read may have been its answer: not to know is no empty ranking.
        answers |= {
            number: Answer((), None, _unread_answer(case, lost[0]))
            for number, case in enumerate(cases)
            if number not in answers
        }
    elif missing:
        notes.append(f"{path}: {_named(missing)} not answered, which counts as an empty ranking")
    if strange:
        notes.append(f"{path}: {_named(strange)} not in the gold, left out")
    return RunFile(
        tuple(answers.get(number, Answer(())) for number in range(len(cases))), texts, tuple(notes), tuple(lost)
    )


def _ordered(case: Case, answer: Answer, ties: Ties) -> Answer:
    if ties == "file" or not answer.ids:
        return answer
    if answer.scores is None:
        raise case.wrong(
            "no scores", "a score for each hit, to break ties as trec_eval does", "ids alone", "--ties file"
        )
    ids, scores = zip(*in_order_of(ties, list(zip(answer.ids, answer.scores, strict=True))), strict=True)
    return Answer(ids, scores)


def _unread_answer(case: Case, reason: InputError) -> InputError:
    return case.wrong("not answered, where lines can't be read", "a line for it", reason.brief, reason.remedy)


def refuse_strange_ids(path: Path, run: RunFile, cases: Sequence[Case]) -> None:
    """Raise InputError where not one id of the run occurs in the gold: two ways of naming look like a recall of 0."""
    judged = dict.fromkeys(id for case in cases for id in (*case.relevant, *(case.grades or ())))
    returned = dict.fromkeys(id for answer in run.answers for id in answer.ids)
    if not judged or not returned or not judged.keys().isdisjoint(returned):
        return
    expected, actual = (f"ids such as {', '.join(map(repr, [*ids][:2]))}" for ids in (judged, returned))
    raise InputError(
        f"not one id of {path} occurs in the gold",
        expected=expected[:EXCERPT],
        found=actual[:EXCERPT],
        remedy="name the gold that belongs to the run, or name things alike in both",
    )


def read_texts(path: Path) -> dict[str, str]:
    """Return the text of each id, from JSON Lines with `_id` (or `id`) and `text`, as BEIR's; a title stands first."""
    texts: dict[str, str] = {}
    for number, fields in objects(path):
        id = id_text(fields.get("_id", fields.get("id")))
        text = fields.get("text")
        if id is None or not isinstance(text, str) or id in texts:
            raise InputError(
                f"{path}, line {number}: no text of an id",
                expected="`_id` (or `id`), once, and `text`",
                found=f"{id} again" if id in texts else ", ".join(fields) or "an empty object",
            )
        title = fields.get("title")
        texts[id] = f"{title}\n{text}" if isinstance(title, str) and title.strip() else text
    return texts


def _records(path: Path, refused: Refused | None) -> Iterable[Record]:
    if form_of(path) == "trec":
        return [Record(query, None, {"ranked": hits}, str(path)) for query, hits in read_run(path, refused).items()]
    return records(path, "ranked", None if refused is None else refused.of)


def _hits(record: Record, texts: dict[str, str], by_text: bool) -> list[Any]:
    """Return ids, or ids with scores; the scores of a dictionary decide its order, a list must be in order."""
    ranked = record.fields.get("ranked")
    if isinstance(ranked, dict):
        scored = ((_id(record, id), _score(record, id, score)) for id, score in ranked.items())
        return sorted(scored, key=lambda hit: -hit[1])
    if ranked is None:
        raise record.wrong("no ranking", "`ranked`, here or in a file of its own (--run FILE)", "no such field")
    if not isinstance(ranked, list):
        raise record.wrong("`ranked` is not a ranking", "a list of ids, or [id, score] pairs", repr(ranked)[:60])
    return [_hit(record, hit, texts, by_text) for hit in ranked]


def _ms(record: Record) -> float | None:
    """Return how long the query took, where the file says so."""
    ms = record.fields.get("ms")
    if ms is None:
        return None
    if isinstance(ms, bool) or not isinstance(ms, (int, float)) or not 0 <= ms < math.inf:
        raise record.wrong("`ms` is not a time", "milliseconds, a finite number of 0 or more", repr(ms)[:60])
    return float(ms)


def _hit(record: Record, hit: Any, texts: dict[str, str], by_text: bool) -> Any:
    if isinstance(hit, dict):
        text, score = hit.get("text"), hit.get("score")
        id = id_text(hit.get("id", hit.get("_id", text if by_text else None)))
        if id is not None and isinstance(text, str):
            texts[id] = text
        if id is not None:
            return id if score is None else (id, _score(record, id, score))
    elif isinstance(hit, (list, tuple)) and len(hit) == 2:
        id = id_text(hit[0])
        if id is not None:
            if by_text:
                texts[id] = id
            return id, _score(record, id, hit[1])
    elif (id := id_text(hit)) is not None:
        if by_text:
            texts[id] = id
        return id
    raise record.wrong("a hit is not an id", "an id, [id, score], or {id, score, text}", repr(hit)[:60])


def _id(record: Record, value: Any) -> str:
    id = id_text(value)
    if id is None:
        raise record.wrong("a hit is not an id", "a string that is not empty", ascii(value)[:60])
    return id


def _score(record: Record, id: str, value: Any) -> float:
    try:
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return float(value)
    except OverflowError:
        pass
    raise record.wrong("a score is not a number", f"a number for {id}", repr(value)[:60])


def _named(queries: Sequence[str]) -> str:
    more = f" and {len(queries) - NAMED} more" if len(queries) > NAMED else ""
    return f"{len(queries)} quer{'ies' if len(queries) > 1 else 'y'} ({', '.join(queries[:NAMED])}{more})"
