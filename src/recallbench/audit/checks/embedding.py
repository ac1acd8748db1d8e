"""The account of the embedding in environment.json, against the dataset and metrics.json."""

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any

from pydantic import TypeAdapter, ValidationError

from recallbench.audit.encoding import distinct_texts, most_tokens
from recallbench.audit.examination import Examination, pass_unless
from recallbench.audit.gate import Finding
from recallbench.audit.subject import AuditSubject
from recallbench.embedding.embedder import EmbeddingReport
from recallbench.embedding.engines.probe import PROBED
from recallbench.embedding.engines.proof import NEAR
from recallbench.embedding.forms.outside_encoder import TOLERATED
from recallbench.embedding.hashing import HashEmbedder
from recallbench.embedding.registry import form_of
from recallbench.embedding.spot_check import ROWS_CHECKED
from recallbench.embedding.vector_agreement import COSINE, REDUCED
from recallbench.embedding.vector_cache import UNRECORDED
from recallbench.results.environment import PACK as FIELD
from recallbench.results.metrics import EmbedderPart, ExposurePart

_REPORT = TypeAdapter(EmbeddingReport)
_KEYS = frozenset(field.name for field in fields(EmbeddingReport))
_CHECKED = frozenset({"foreign", "embedded_again", "embedded_again_worst_cosine"})
"""Fields about reused vectors that were compared with new ones. Earlier releases wrote none of them."""
_LINE = re.compile(r"(torch|openvino|onnxruntime|xllamacpp|numpy) \S*, [\w, .+-]+ on .+")
_VERSION = re.compile(r"(?:^|, )([a-z]+) ([^\s,]+)")
_PLAIN = ("torch/cpu", "onnxruntime/cpu")
"""What is used where the proof of anything else failed."""
_ROUNDED = 1e-6
"""How far a cosine in double precision may exceed 1."""


def embedding(subject: AuditSubject) -> Finding:
    stated: Any = subject.environment.get("embedding")
    embedder, exposure = subject.metrics.embedder, subject.metrics.exposure
    if embedder is None:
        # RB-RECORDED checks that all three go together.
        return Finding("pass", "nothing was embedded")
    try:
        report = _REPORT.validate_json(json.dumps(stated), strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        return Finding("fail", f"environment.json: embedding.{'.'.join(map(str, first['loc']))}: {first['msg']}")
    problems = [
        *_counts(report, exposure),
        *_engine(report, embedder),
        *_computed(report, embedder, subject.environment),
        *_reused_vectors(report, stated, _agreed(embedder), unchecked=bool(subject.deviations) or bool(embedder.pack)),
        *_texts(subject, report),
    ]
    if embedder.pack is None and (report.packed or FIELD in subject.environment):
        problems.append("vectors of a pack, which metrics.json does not name")
    problems += [f"embedding.{name}, which no run writes" for name in sorted(stated.keys() - _KEYS)]
    return pass_unless(
        problems, f"{report.distinct} distinct texts, as the dataset has them, and counts that fit each other"
    )


def _counts(report: EmbeddingReport, exposure: ExposurePart | None) -> Iterator[str]:
    if report.computed < 0 or report.reused < 0 or report.distinct != report.computed + report.reused:
        yield f"{report.distinct} distinct texts, {report.computed} computed and {report.reused} reused"
    if not 0 <= report.truncated <= report.distinct:
        yield f"{report.truncated} of {report.distinct} distinct texts cut"
    if exposure is None:
        if report.tokens or report.truncated:
            yield f"{report.tokens} tokens and {report.truncated} texts cut, by an encoder that counts none"
    elif report.tokens < report.truncated * (exposure.max_tokens + 1):
        yield f"{report.tokens} tokens, with {report.truncated} texts cut at {exposure.max_tokens}"
    for part, seconds in report.seconds.items():
        if not (math.isfinite(seconds) and seconds >= 0):
            yield f"{seconds} seconds of {part}"


def _engine(report: EmbeddingReport, embedder: EmbedderPart) -> Iterator[str]:
    backend = embedder.fingerprint.get("backend", "")
    if (report.backend, report.device) != (backend, backend.partition("/")[2]):
        yield f"backend {report.backend} on {report.device}, the fingerprint has {backend}"
    worst = report.worst_cosine
    if worst is not None and not -1 - _ROUNDED <= worst <= 1 + _ROUNDED:
        yield f"a cosine of {worst}"
    equal, measured = report.proof in ("equal", "cached"), report.proof == "measured"
    compared = f"the proof {report.proof}, on {report.proof_texts} texts with a cosine of {worst} at worst"
    if report.proof_texts < 0 or (report.proof == "not needed" and (worst is not None or report.proof_texts)):
        yield compared
    if (equal or measured) and (not report.proof_texts or worst is None or worst < (COSINE if equal else NEAR)):
        yield compared
    openvino, reduced = backend.startswith("openvino/"), embedder.dtype != "fp32"
    proven = openvino or backend in ("torch/cuda", "torch/mps")
    if measured != reduced and (measured or _run_anew(report)):
        yield f"the proof {report.proof}, and vectors computed in {embedder.dtype}"
    elif (report.proof == "failed" and backend not in _PLAIN) or (equal and not proven):
        yield f"the proof {report.proof}, and vectors of {backend}"
    if report.proof == "failed" and all(note.startswith(PROBED) for note in report.notes):
        yield "the proof failed, and no note says how"
    # Vectors of a pack are compared with those of whatever runs here.
    anew = report.computed if embedder.pack is not None else _run_anew(report)
    if openvino and not equal and not reduced and anew:
        yield f"{anew} texts embedded with OpenVINO, and the proof {report.proof}"


def _run_anew(report: EmbeddingReport) -> int:
    """Return how many texts went through the encoder in this run."""
    return report.computed + report.embedded_again


def _computed(report: EmbeddingReport, embedder: EmbedderPart, environment: Mapping[str, Any]) -> Iterator[str]:
    """Check packages, processor and times that the vectors of an encoder with weights were computed with."""
    if embedder.name == HashEmbedder.name:
        return
    parts = () if _runs_elsewhere(embedder) else ("load", "tokenise", "forward")
    if _run_anew(report) and not all(report.seconds.get(part) for part in parts):
        yield f"{_run_anew(report)} texts embedded, and no time to load, tokenise or embed"
    if report.distinct and not report.computed_with:
        yield f"{report.distinct} vectors, computed with nothing"
    if _runs_elsewhere(embedder):
        return
    yield from (
        f"vectors computed with {line[:60]}"
        for line in report.computed_with
        if line != UNRECORDED and not _LINE.fullmatch(line)
    )
    if report.computed and not any(_is_here(line, report, environment) for line in report.computed_with):
        yield f"{report.computed} texts computed, and no vector with the packages and processor of this run"


def _is_here(line: str, report: EmbeddingReport, environment: Mapping[str, Any]) -> bool:
    """Return whether a line of `computed_with` names the packages and the processor of this run."""
    packages, machine = environment.get("packages"), environment.get("machine")
    installed = packages if isinstance(packages, Mapping) else {}
    versions, _, place = line.partition(" on ")
    here = machine.get("cpu") if report.device == "cpu" and isinstance(machine, Mapping) else report.device
    return place == here and all(
        installed.get(name, version) == version for name, version in _VERSION.findall(versions)
    )


def _agreed(embedder: EmbedderPart) -> float:
    """Return the least cosine of a vector with the one that it was compared with."""
    if embedder.dtype != "fp32":
        return REDUCED.cosine
    return TOLERATED.cosine if _runs_elsewhere(embedder) else COSINE


def _runs_elsewhere(embedder: EmbedderPart) -> bool:
    """Return whether what computes a vector is a server's, or the user's own code."""
    backend = embedder.fingerprint.get("backend", "")
    return form_of(embedder.name) is not None and backend.startswith(("function/", "endpoint/"))


def _reused_vectors(
    report: EmbeddingReport, stated: Mapping[str, Any], least: float, *, unchecked: bool
) -> Iterator[str]:
    """Check the reused vectors that were embedded again. `unchecked` says that only foreign ones have to be."""
    if not _CHECKED & stated.keys():
        return
    if lacking := sorted(_CHECKED - stated.keys()):
        yield f"no word on {', '.join(lacking)}"
    foreign, again, worst = report.foreign, report.embedded_again, report.embedded_again_worst_cosine
    if not (0 <= foreign <= report.reused and 0 <= again <= report.reused):
        yield f"{foreign} foreign and {again} embedded again, of {report.reused} reused vectors"
    fewest = min(ROWS_CHECKED, foreign if unchecked else report.reused)
    if again < fewest:
        yield f"{again} vectors embedded again, where {foreign} of {report.reused} are foreign: {fewest} have to be"
    if (again > 0) != (worst is not None) or (worst is not None and not least <= worst <= 1):
        yield f"{again} vectors embedded again, with a cosine of {worst} at worst"


def _texts(subject: AuditSubject, report: EmbeddingReport) -> Iterator[str]:
    """Check the number of distinct texts: segments and questions, and more where questions were rewritten, or a
    baseline was reproduced as well."""
    exposure, embedder = subject.metrics.exposure, subject.metrics.embedder
    if not subject.has_dataset or embedder is None:
        return
    texts = subject.dataset.texts
    pipeline = subject.metrics.pipeline
    rewritten = pipeline is not None and any(stage.kind == "rewrite" for stage in pipeline.stages)
    alone = subject.metrics.reproduction is None and not rewritten
    expected = distinct_texts(texts, embedder.fingerprint)
    if report.distinct < expected or (alone and report.distinct > expected):
        yield f"{report.distinct} distinct texts, the dataset has {expected}"
    if exposure is None:
        return
    each_once = texts.passages == exposure.segments
    if each_once and (report.tokens < exposure.tokens or report.truncated < exposure.truncated):
        yield (
            f"{report.tokens} tokens and {report.truncated} texts cut, "
            f"where the segments alone have {exposure.tokens} and {exposure.truncated}"
        )
    of_queries = most_tokens(texts.query_characters, texts.queries, embedder.fingerprint.get("query_prefix", ""))
    if alone and report.tokens > exposure.tokens + of_queries:
        yield f"{report.tokens} tokens, where segments have {exposure.tokens} and questions at most {of_queries}"
    if alone and report.truncated > exposure.truncated + texts.queries:
        yield f"{report.truncated} texts cut, where {exposure.truncated} segments and at most all questions are"


EMBEDDING = Examination(
    "RB-EMBEDDING", "embedding", "the vectors' account fits dataset, exposure and fingerprint", embedding
)
