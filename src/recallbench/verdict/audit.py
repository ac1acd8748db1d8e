"""Decides a result folder again from what lies in it: hashes and gates. It never writes there."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from recallbench.corpora.registry import facts
from recallbench.errors import InputError
from recallbench.protocol.deviations import Configuration, departures
from recallbench.protocol.frozen import load
from recallbench.protocol.rules import CorpusRules
from recallbench.results.folder import BLOCKED
from recallbench.results.manifest import differences
from recallbench.results.metrics import OVERALL, Metrics
from recallbench.results.reproduction import JSON_NAME as REPRODUCTION
from recallbench.verdict.decision import Verdict, check_gates, decide
from recallbench.verdict.gate import Check, Evidence


@dataclass(frozen=True, slots=True)
class Audit:
    """One folder, check by check."""

    folder: Path
    checks: tuple[Check, ...]
    verdict: Verdict
    deviations: tuple[str, ...]


def audit(folder: Path) -> Audit:
    """Check a folder; raises InputError when it is no result folder at all."""
    if not folder.is_dir():
        raise _no_result(folder, "no such folder")
    if (folder / BLOCKED).exists():
        check = Check("BLOCKED absent", "fail", dict(load().gates)["BLOCKED absent"], f"{BLOCKED} is there")
        return Audit(folder, (check,), decide([check], ()), ())
    metrics = _read(folder)
    rules = load()
    stated = metrics.protocol
    corpus = facts(metrics.corpus.name, rules)
    wrong = differences(folder)
    counts = _counts(folder, metrics, corpus)
    stated_departures = [f"{one.kind}: {one.detail}" for one in metrics.deviations]
    found_departures = [str(one) for one in departures(_configuration(metrics), corpus, rules)]
    checks = (
        _equal(
            "manifest", "every file has the hash the manifest states", "; ".join(wrong) or "all hashes agree", not wrong
        ),
        _equal("protocol", rules.sha256, stated.sha256, stated.sha256 == rules.sha256),
        _equal(
            "clarifications",
            f"{rules.clarifications_sha256}, or an earlier release",
            stated.clarifications_sha256,
            stated.clarifications_sha256 in (rules.clarifications_sha256, *rules.earlier_clarifications),
        ),
        _equal(
            "deviations",
            "those that follow from corpus, store, embedder, scope, depth and limit",
            _differing(stated_departures, found_departures),
            stated_departures == found_departures,
        ),
        _equal("counts", "figures of one result agree with each other", "; ".join(counts) or "they agree", not counts),
        *check_gates(Evidence(metrics, rules, corpus, folder)),
    )
    deviations = tuple(dict.fromkeys(found_departures + stated_departures))
    return Audit(folder, checks, decide(checks, deviations), deviations)


def _configuration(metrics: Metrics) -> Configuration:
    return Configuration(
        sha256=metrics.dataset_sha256,
        store=metrics.store.name,
        variant=metrics.store.variant,
        embedder=metrics.embedder.name if metrics.embedder else "",
        pooled=metrics.retrieval.scope == "pooled",
        depth=metrics.retrieval.depth,
        limit=metrics.retrieval.limit,
        reproduction=metrics.reproduction or "",
    )


def _differing(stated: list[str], found: list[str]) -> str:
    missing = [f"not stated: {one}" for one in found if one not in stated]
    extra = [f"stated, but not so: {one}" for one in stated if one not in found]
    return "; ".join(missing + extra) or f"{len(found)} stated, as they follow"


def _counts(folder: Path, metrics: Metrics, corpus: CorpusRules) -> list[str]:
    """What of a result contradicts itself, as far as counting tells; scoring the rankings again tells more."""
    wrong = [
        f"{one.name}: registered {one.expected}, found {one.found}" for one in metrics.corpus.checks if not one.holds
    ]
    asked, part = metrics.retrieval.asked, metrics.retrieval.limit
    if asked != (corpus.with_evidence if part is None else part) and metrics.dataset_sha256 == corpus.sha256:
        wrong.append(f"{asked} questions asked, {corpus.with_evidence if part is None else part} expected")
    try:
        with (folder / "raw_retrievals.jsonl").open("rb") as file:
            rows = sum(1 for line in file if line.strip())
    except OSError as error:
        return [*wrong, f"raw_retrievals.jsonl: {error.strerror}"]
    if rows != asked:
        wrong.append(f"raw_retrievals.jsonl has {rows} rows for {asked} questions asked")
    if (folder / REPRODUCTION).exists() != (metrics.reproduction is not None):
        wrong.append(f"metrics.json states the reproduction {metrics.reproduction}, which {REPRODUCTION} contradicts")
    overall = {one.measure: one for one in metrics.estimates.get(OVERALL, [])}
    wrong += [
        f"the headline says {one.estimate.measure} {one.estimate.value}, the table of all measures another figure"
        for one in metrics.headline
        if overall.get(one.estimate.measure) != one.estimate
    ]
    return wrong


def _equal(name: str, required: str, observed: str, holds: bool) -> Check:
    return Check(name, "pass" if holds else "fail", required, observed)


def _read(folder: Path) -> Metrics:
    path = folder / "metrics.json"
    try:
        return Metrics.model_validate_json(path.read_bytes())
    except FileNotFoundError as error:
        raise _no_result(folder, "metrics.json is missing") from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(step) for step in first["loc"]) or "the file"
        raise _no_result(folder, f"metrics.json: {place}: {first['msg']}") from error


def _no_result(folder: Path, found: str) -> InputError:
    return InputError(
        f"{folder} is not a result folder",
        expected="a folder that `recallbench run` wrote",
        found=found,
        remedy="name a folder under benchmarks/<corpus>/results/",
    )
