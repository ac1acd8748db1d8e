"""The spread of the passes of one configuration: by measure, by question, and against the protocol's bands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from recallbench import __version__
from recallbench.protocol.bands import check_band
from recallbench.protocol.rules import CorpusRules
from recallbench.reports.cells import system
from recallbench.reports.own_encoder import encoder_words
from recallbench.reports.repetition import document as parts
from recallbench.results.metrics import Metrics
from recallbench.runs.run import Outcome
from recallbench.scoring.judgement import Floats
from recallbench.scoring.measures.measure import Measure
from recallbench.scoring.measures.registry import PRIMARY
from recallbench.studies.passes import Pass

RECALL = str(PRIMARY[0])
LIMITS = (
    "embedding: vectors are computed once and read from the cache after that, so only the store can differ",
    "the hash seed: all runs share it, as the protocol fixes it",
)


def summarise(
    outcomes: Sequence[Outcome],
    passes: Sequence[Pass],
    measures: Sequence[Measure],
    registered: CorpusRules,
    conditions: tuple[str, str],
) -> parts.Repetition:
    """Return the content of repeat.json; `conditions` says what cold and warm were."""
    first = outcomes[0].metrics
    unlike = _changed_settings([outcome.metrics for outcome in outcomes])
    if any(pass_.questions != passes[0].questions for pass_ in passes):
        unlike.append("the questions that were asked")
    means = [{name: _mean(values[pass_.counted]) for name, values in pass_.values.items()} for pass_ in passes]
    reason = "; ".join(unlike) or (
        f"only {first.retrieval.asked} of the questions were asked" if first.retrieval.limit is not None else ""
    )
    bands = []
    for headline in first.headline:
        measure = headline.estimate.measure
        values = [value for mean in means if (value := mean[measure]) is not None]
        check = check_band(registered, headline.protocol_name, values, reason)
        bands.append(
            parts.BandPart(
                protocol_name=headline.protocol_name,
                measure=measure,
                width=check.width,
                apart=_rounded(check.apart),
                inside=check.inside,
                told=check.description,
            )
        )
    return parts.Repetition(
        schema_version="1",
        recallbench_version=__version__,
        protocol=first.protocol.version,
        corpus=first.corpus.name,
        dataset_sha256=first.dataset_sha256,
        store=system(first),
        version=first.store.version,
        embedder=encoder_words(first),
        n=int(passes[0].counted.sum()),
        deviations=[f"{deviation.kind}: {deviation.detail}" for deviation in first.deviations],
        cold=conditions[0],
        warm=conditions[1],
        limits=list(LIMITS),
        unlike=unlike,
        same_content=len({pass_.content_sha256 for pass_ in passes if pass_.content_sha256}) == 1,
        same_rankings=len({pass_.rankings_sha256 for pass_ in passes}) == 1,
        passes=[
            parts.PassPart.model_validate(
                {
                    "name": pass_.name,
                    "state": pass_.state,
                    "values": mean,
                    "rankings_sha256": pass_.rankings_sha256,
                    "content_sha256": pass_.content_sha256,
                }
            )
            for pass_, mean in zip(passes, means, strict=True)
        ],
        spread=[measured for measure in measures if (measured := _spread(str(measure), passes, means))],
        bands=bands,
        moved=_moved(passes) if "the questions that were asked" not in unlike else [],
    )


def _changed_settings(every: Sequence[Metrics]) -> list[str]:
    """Return the settings that were not the same in all runs: a usual cause of spread."""

    def identity(metrics: Metrics) -> dict[str, object]:
        return {
            "store": system(metrics),
            "version": metrics.store.version,
            "dataset": metrics.dataset_sha256,
            "embedder": metrics.embedder.fingerprint_sha256 if metrics.embedder else None,
            "deviations": [str(deviation) for deviation in metrics.deviations],
            **{f"setting {name}": value for name, value in metrics.guc_state.items()},
        }

    identities = [identity(metrics) for metrics in every]
    names = dict.fromkeys(name for facts in identities for name in facts)
    return [name for name in names if any(facts.get(name) != identities[0].get(name) for facts in identities)]


def _spread(
    measure: str, passes: Sequence[Pass], means: Sequence[Mapping[str, float | None]]
) -> parts.SpreadPart | None:
    values = [
        (pass_.state, value) for pass_, mean in zip(passes, means, strict=True) if (value := mean[measure]) is not None
    ]
    if not values:
        return None
    every = np.array([value for _, value in values])
    apart = {state: _range([value for its, value in values if its == state]) for state in ("cold", "warm")}
    return parts.SpreadPart(
        measure=measure,
        minimum=float(every.min()),
        maximum=float(every.max()),
        range=round(float(np.ptp(every)), 10),
        mean=round(float(every.mean()), 10),
        sd=round(float(every.std(ddof=1)), 10) if len(every) > 1 else 0.0,
        cold_range=apart["cold"] or 0.0,
        warm_range=apart["warm"],
    )


def _range(values: Sequence[float]) -> float | None:
    return round(max(values) - min(values), 10) if values else None


def _moved(passes: Sequence[Pass]) -> list[parts.MovedPart]:
    anything = np.stack([pass_.values[RECALL] > 0 for pass_ in passes])
    first = np.stack([pass_.first_gold for pass_ in passes])
    changed = ((anything != anything[0]).any(axis=0) | (first != first[0]).any(axis=0)) & passes[0].counted
    return [
        parts.MovedPart(
            question_id=passes[0].questions[i],
            found=[bool(recalled) for recalled in anything[:, i]],
            first_gold=[None if value == 0 else round(1 / float(value)) for value in first[:, i]],
        )
        for i in np.flatnonzero(changed)
    ]


def _mean(values: Floats) -> float | None:
    return float(values.mean()) if len(values) else None


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 10)
