"""How the vectors came about, as environment.json tells it, against the dataset and metrics.json."""

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import TypeAdapter, ValidationError

from recallbench.embedding.embedder import EmbeddingReport
from recallbench.embedding.encoders import ENCODERS
from recallbench.embedding.proof import COSINE
from recallbench.results.metrics import EmbedderPart, ExposurePart
from recallbench.verdict.case import Case
from recallbench.verdict.encoding import distinct_texts, most_tokens
from recallbench.verdict.examination import Examination, listed
from recallbench.verdict.gate import Finding

_REPORT = TypeAdapter(EmbeddingReport)
_ROUNDED = 1e-6
"""By so much a cosine in double precision may pass 1."""


def embedding(case: Case) -> Finding:
    told, made, seen = case.environment.get("embedding"), case.metrics.embedder, case.metrics.exposure
    if made is None or seen is None:
        # That all three go together is held by RB-RECORDED.
        return Finding("pass", "nothing was embedded")
    try:
        report = _REPORT.validate_json(json.dumps(told), strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        return Finding("fail", f"environment.json: embedding.{'.'.join(map(str, first['loc']))}: {first['msg']}")
    found = [*_counts(report, seen), *_engine(report, made, case.environment.get("packages")), *_texts(case, report)]
    return listed(found, f"{report.distinct} distinct texts, as the dataset has them, and counts that fit each other")


def _counts(report: EmbeddingReport, seen: ExposurePart) -> Iterator[str]:
    if report.computed < 0 or report.reused < 0 or report.distinct != report.computed + report.reused:
        yield f"{report.distinct} distinct texts, {report.computed} computed and {report.reused} reused"
    if not 0 <= report.truncated <= report.distinct:
        yield f"{report.truncated} of {report.distinct} distinct texts cut"
    if report.tokens < report.truncated * (seen.max_tokens + 1):
        yield f"{report.tokens} tokens, with {report.truncated} texts cut at {seen.max_tokens}"
    for part, seconds in report.seconds.items():
        if not (math.isfinite(seconds) and seconds >= 0):
            yield f"{seconds} seconds of {part}"


def _engine(report: EmbeddingReport, made: EmbedderPart, packages: Any) -> Iterator[str]:
    backend = made.fingerprint.get("backend", "")
    if (report.backend, report.device) != (backend, backend.partition("/")[2]):
        yield f"backend {report.backend} on {report.device}, the fingerprint has {backend}"
    worst = report.worst_cosine
    if worst is not None and not -1 - _ROUNDED <= worst <= 1 + _ROUNDED:
        yield f"a cosine of {worst}"
    equal = report.proof in ("equal", "cached")
    if equal and (worst is None or worst < COSINE):
        yield f"the proof {report.proof}, with a cosine of {worst} at worst"
    if made.name not in ENCODERS or not report.computed:
        return
    if backend.startswith("openvino/") and not equal:
        yield f"{report.computed} texts computed with OpenVINO, and the proof {report.proof}"
    numpy = packages.get("numpy") if isinstance(packages, Mapping) else None
    if numpy and not any(f"numpy {numpy} " in line for line in report.computed_with):
        yield f"{report.computed} texts computed, and no vector with numpy {numpy}"


def _texts(case: Case, report: EmbeddingReport) -> Iterator[str]:
    """The distinct texts of the run: segments and questions, and more where a baseline was measured again as well."""
    seen, made = case.metrics.exposure, case.metrics.embedder
    if not case.has_dataset or seen is None or made is None:
        return
    texts = case.dataset.texts
    alone, wanted = case.metrics.reproduction is None, distinct_texts(texts, made.name)
    if report.distinct < wanted or (alone and report.distinct > wanted):
        yield f"{report.distinct} distinct texts, the dataset has {wanted}"
    each_once = len(texts.passages) == seen.segments
    if each_once and (report.tokens < seen.tokens or report.truncated < seen.truncated):
        yield (
            f"{report.tokens} tokens and {report.truncated} texts cut, "
            f"where the segments alone have {seen.tokens} and {seen.truncated}"
        )
    of_queries = most_tokens(texts.query_characters, len(texts.queries))
    if alone and report.tokens > seen.tokens + of_queries:
        yield f"{report.tokens} tokens, where segments have {seen.tokens} and questions at most {of_queries}"
    if alone and report.truncated > seen.truncated + len(texts.queries):
        yield f"{report.truncated} texts cut, where {seen.truncated} segments and at most all questions are"


EMBEDDING = Examination(
    "RB-EMBEDDING", "embedding", "the vectors' account fits dataset, exposure and fingerprint", embedding
)
