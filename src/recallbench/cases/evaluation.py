"""Cases put to a retriever, and the report of its answers."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from recallbench.cases.answer import Answer
from recallbench.cases.caller import Caller
from recallbench.cases.case import SHOWN, Case
from recallbench.cases.case_source import Source, take_cases
from recallbench.cases.definitions import USUAL, Definitions, NdcgOver, PrecisionOver
from recallbench.cases.judging import judge_by_id
from recallbench.cases.nearness import known_texts
from recallbench.cases.params import Params, record_params
from recallbench.cases.report import Report
from recallbench.cases.signature import Retriever, Retrievers, with_parameters_of
from recallbench.cases.text_findings import text_findings
from recallbench.cases.text_judging import Texts, decide, judge_matched, match_cases, refuse_ids_for_texts
from recallbench.cases.text_vectors import Embed, query_vectors, takes_vectors, takes_vectors_first
from recallbench.corpora.matching.method import OWN, Matching, Method
from recallbench.corpora.matching.text_matching import refuse_random_matches
from recallbench.errors import UsageError
from recallbench.scoring.depth import depth_of
from recallbench.scoring.quantiles import NEAREST_RANK, Rule

if TYPE_CHECKING:
    from recallbench.cases.side_by_side import SideBySide

TIMEOUT = 60.0
MOST = 10**12
"""Items that could come back; so many are exact in every sum."""


def _prepare(
    cases: Source,
    retrieve: Retriever | Retrievers,
    k: int = 10,
    *,
    timeout: float | None = TIMEOUT,
    concurrency: int = 1,
    keep_going: bool = False,
    match: Method | Matching = "id",
    match_threshold: float | None = None,
    match_chunk: int | None = None,
    match_embedder: str | None = None,
    match_cosine: float | None = None,
    allow_random_matches: bool = False,
    texts: Texts | None = None,
    candidates: int | None = None,
    precision: PrecisionOver = "k",
    ndcg: NdcgOver = "all",
    percentiles: Rule = NEAREST_RANK,
    params: Mapping[str, Any] | None = None,
    embed: Embed | None = None,
) -> _Evaluation:
    """Declare the parameters of `evaluate` and `evaluate_async`; raises UsageError for values that make no sense."""
    definitions = Definitions(precision, ndcg, percentiles)
    matching = _matching(match, match_threshold, match_chunk, match_embedder, match_cosine)
    chosen, notes = take_cases(cases)
    retrievers = _retrievers(retrieve)
    if timeout is not None and not 0 < timeout < math.inf:
        raise UsageError("a timeout is in seconds", expected="above 0, or None for no limit", found=str(timeout))
    if isinstance(concurrency, bool) or not isinstance(concurrency, int) or concurrency < 1:
        raise UsageError(
            "concurrency is how many cases are asked at a time", expected="1 or more", found=f"{concurrency}"
        )
    repeats, depth = matching.by_text and texts is None, depth_of(k)
    recorded = _params_by_name(params, retrievers) if isinstance(retrieve, Mapping) else {"": record_params(params)}
    vectors = query_vectors(chosen, list(retrievers.values()), embed)
    callers = {
        name: Caller(
            retriever,
            depth,
            timeout,
            concurrency,
            keep_going,
            repeats,
            vectors if takes_vectors(retriever) else None,
            takes_vectors_first(retriever),
            name,
        )
        for name, retriever in retrievers.items()
    }
    return _Evaluation(chosen, callers, matching, allow_random_matches, texts, candidates, definitions, notes, recorded)


_prepare.__qualname__ = "evaluate"  # by this name Python refuses an unknown keyword


def _retrievers(retrieve: Retriever | Retrievers) -> dict[str, Retriever]:
    """Return the retrievers by name; a single one has none. Raises UsageError for anything else."""
    several = isinstance(retrieve, Mapping)
    retrievers: dict[str, Retriever] = {**retrieve} if isinstance(retrieve, Mapping) else {"": retrieve}
    odd = next(
        (name for name, retriever in retrievers.items() if not (callable(retriever) and isinstance(name, str))), None
    )
    if odd is not None:
        named = f" {odd!r}" if several else ""
        raise UsageError(
            f"retrieve{named} is a function",
            expected="retrieve(query, k)" + (", by name" if several else ", or {name: retrieve}"),
            found=f"a {type(retrievers[odd]).__name__}",
            remedy="give its method `search`" if hasattr(retrievers[odd], "search") else "",
        )
    if not retrievers or (several and not all(name.strip() for name in retrievers)):
        raise UsageError("retrieve names nothing", expected="{name: retrieve}", found=repr(list(retrievers))[:SHOWN])
    return retrievers


def _params_by_name(params: Mapping[str, Any] | None, retrievers: Mapping[str, Retriever]) -> dict[str, Params]:
    """Return the parameters of each of several retrievers; raises UsageError for those of another name."""
    given = {} if params is None else params
    if not isinstance(given, Mapping) or any(name not in retrievers for name in given):
        raise UsageError(
            "params of several retrievers are by their names",
            expected=f"params={{{next(iter(retrievers))!r}: {{'alpha': 0.3}}}}",
            found=repr(params)[:SHOWN],
        )
    return {name: record_params(given.get(name)) for name in retrievers}


@dataclass(frozen=True, slots=True)
class _Evaluation:
    """Cases, how they are put to each retriever, and how the answers are scored."""

    cases: list[Case]
    callers: Mapping[str, Caller]
    matching: Matching
    allow_random_matches: bool
    texts: Texts | None
    candidates: int | None
    definitions: Definitions
    notes: tuple[str, ...]
    params: Mapping[str, Params]

    def report(self, name: str, answers: Sequence[Answer]) -> Report:
        """Return the report of one retriever's answers, one a case."""
        caller = self.callers[name]
        return score_answers(
            self.cases,
            answers,
            caller.k,
            matching=self.matching,
            allow_random_matches=self.allow_random_matches,
            texts=self.texts,
            candidates=self.candidates,
            notes=self.notes,
            keep_going=caller.keep_going,
            definitions=self.definitions,
            params=self.params[name],
        )

    def outcome(self, answers: Mapping[str, Sequence[Answer]]) -> Report | SideBySide[Report]:
        """Return the report of a single retriever, or those of several side by side."""
        reports = {name: self.report(name, its_answers) for name, its_answers in answers.items()}
        if "" in reports:
            return reports[""]
        # Imported here: tables of several systems take pydantic, which takes longer to import than all the rest.
        from recallbench.cases.side_by_side import side_by_side

        return side_by_side(reports)


@with_parameters_of(_prepare)
def evaluate(*args: Any, **options: Any) -> Report | SideBySide[Report]:
    """Ask `retrieve(query, k)` each case and score what comes back.

    `cases` are `Case` objects, dictionaries of their fields, (query, relevant) tuples, {query: relevant}, a DataFrame,
    or the path of a gold file, or of a folder that holds a labelled set.

    Of several retrievers, {name: retrieve}, the reports come back side by side: a mapping of name to report that shows
    itself as a table, best first, in which those that share a letter can't be told apart by a paired test.

    `retrieve` returns at most k ids, or (id, score) pairs with the highest score first, each id once; it may be async,
    and `evaluate` may be called while an event loop runs (`await evaluate_async(...)` stays in that loop).

    A case fails when `retrieve` raises, breaks its promise or takes longer than `timeout` seconds: InputError names the
    case, what was expected and found. With `keep_going` it counts as an empty ranking instead, and stands in
    `report.failures`. Of an iterator at most k + 1 hits are read. No `timeout` can stop code in C before it returns; a
    client that may hang there needs a limit of its own, as a statement timeout.

    `concurrency` asks so many cases at a time, in threads (or tasks of one loop, if it is async); without it calls come
    from this thread, where a limit can be kept in the main one.

    `match="tokens"` or `"exact"` takes a hit as relevant by its text beside `Case.expected`: the hits are texts, or
    ids whose text is in `texts`. `match_threshold` is the token F1 that counts with "tokens", 0.3 by default.
    `match="hybrid"` takes relevant ids, exact, tokens and, with `match_embedder` named, cosine from `match_cosine`, in
    this order (`report.shares`); `match="bm25"` the best passage of a long text, from 0.5 of the expected text's score.
    Where more than 20% of random texts match, InputError names a threshold that would do; `allow_random_matches=True`
    goes on.
    `candidates` says how many items could come back, for the level of chance.

    Definitions of other schools, named in every output: `precision="retrieved"` divides by what came back (also in f1
    and f1_of_means), `ndcg="graded"` is over the cases that have grades, and `percentiles="index"` takes
    sorted[int(.95 * n)] for the p95 of the calls, "linear" what numpy and Excel interpolate.

    `params={"alpha": 0.3}` records what the retriever was run with: every output shows it, and comparisons name what
    differs. Those of several retrievers are by their names.

    A retriever with a parameter `vector` is given that of the query: of `Case.vector`, else by `embed`, a function of a
    list of texts, a model with `encode` or the name of an encoder. That is done before the first call: no latency
    counts it.
    """
    evaluation = _prepare(*args, **options)
    return evaluation.outcome({name: caller.answers(evaluation.cases) for name, caller in evaluation.callers.items()})


@with_parameters_of(_prepare)
async def evaluate_async(*args: Any, **options: Any) -> Report | SideBySide[Report]:
    """`evaluate` for an async `retrieve`, in the event loop that is running: its clients and pools may belong to it."""
    evaluation = _prepare(*args, **options)
    answers = {name: await caller.answers_async(evaluation.cases) for name, caller in evaluation.callers.items()}
    return await asyncio.to_thread(evaluation.outcome, answers)


def score_answers(
    cases: Sequence[Case],
    answers: Sequence[Answer],
    k: int,
    *,
    matching: Matching | None = None,
    allow_random_matches: bool = False,
    texts: Texts | None = None,
    candidates: int | None = None,
    depth: int | None = None,
    notes: Sequence[str] = (),
    keep_going: bool = False,
    definitions: Definitions = USUAL,
    ties: str = "",
    params: Params | None = None,
) -> Report:
    """Return the report of answers that are there already, `depth` deep where that is more than k."""
    matching = matching or Matching()
    depth = max(k, depth or 0)
    _refuse_odd_candidates(candidates)
    if not matching.by_text:
        for case in cases:
            if case.expected is not None and not case.relevant:
                raise case.wrong(
                    "nothing to match by id", "relevant ids", "an expected text", 'match="tokens" (--match tokens)'
                )
        report = Report(
            tuple(cases), tuple(answers), judge_by_id(cases, answers, depth, candidates), k, matching, candidates
        )
        return replace(report, notes=tuple(notes), definitions=definitions, ties=ties, params=params or {})
    if candidates is not None:
        raise UsageError("there is no level of chance for matches by text", expected="no candidates", found="some")
    ways = decide(cases, matching)
    if "text" not in ways and "id" in ways:
        raise cases[ways.index("id")].wrong("nothing to match by text", "an expected text", "ids alone", 'match="id"')
    warning = refuse_ids_for_texts(cases, answers, ways, matching, texts)
    short = matching.out_of_reach([case.expected or "" for case, way in zip(cases, ways, strict=True) if way == "text"])
    notes = [*notes, *(f"warning: {note}" for note in (warning, short) if note is not None)]
    if matching.method == "bm25":
        known = known_texts(texts)
        whose = f"all {len(known)} texts that are known" if known else "the texts that came back"
        notes.append(f"bm25: how rare a word is, is counted over {whose}")
    matched, near = match_cases(cases, answers, ways, matching, texts, keep_going=keep_going)
    findings = text_findings(matched, matching, near)
    if not allow_random_matches:
        refuse_random_matches(findings.random, matching, "the cases")
    return Report(
        tuple(cases),
        tuple(entry.answer for entry in matched),
        judge_matched(matched, matching, depth),
        k,
        matching,
        texts=findings,
        notes=tuple(notes),
        ways=ways,
        definitions=definitions,
        steps=tuple(entry.steps(matching) for entry in matched) if matching.method == "hybrid" else None,
        ties=ties,
        params=params or {},
    )


def _refuse_odd_candidates(candidates: int | None) -> None:
    if candidates is None:
        return
    whole = isinstance(candidates, int) and not isinstance(candidates, bool)
    if not whole or not 1 <= candidates <= MOST:
        large = whole and candidates > MOST
        raise UsageError(
            "candidates are how many items could come back",
            expected=f"1 to {MOST:,}",
            found="a larger number" if large else repr(candidates),
        )


def _matching(
    match: Method | Matching,
    threshold: float | None,
    chunk: int | None,
    encoder: str | None,
    cosine: float | None,
) -> Matching:
    """Return how to match; raises UsageError for a threshold, a chunk or an encoder that would do nothing."""
    if isinstance(match, Matching):
        others = {"threshold": threshold, "chunk": chunk, "embedder": encoder, "cosine": cosine}
        for name, value in others.items():
            if value is not None:
                raise UsageError(
                    f"match_{name} beside a Matching does nothing",
                    expected=f"it in the Matching: {match}",
                    found=str(value),
                )
        return match
    if threshold is not None and match in ("id", "exact"):
        raise UsageError(
            "match_threshold is for token F1 and BM25",
            expected='match="tokens", "hybrid" or "bm25"',
            found=f"match={match!r}",
        )
    return Matching(match, OWN if threshold is None else threshold, chunk, encoder or "", cosine)
