"""The work of a run, from counts that are registered or were made once."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path

from recallbench.embedding.encoders import ENCODERS
from recallbench.runs.plan import Plan


def workload(plan: Plan) -> dict[str, str]:
    """Segments, questions, distinct texts and tokens, as far as they were counted before."""
    corpus = plan.corpus
    if not corpus.questions:
        return {}
    questions = plan.options.limit or corpus.with_evidence
    counts = {
        "segments": f"{corpus.segments:,} (registered)",
        "questions": f"{questions:,} to ask, of {corpus.questions:,} (registered)",
    }
    sizes = _sizes().get(corpus.name)
    if sizes is None or plan.embedder is None:
        return counts
    source = sizes["tokens_source"]
    if plan.embedder != sizes["encoder"]:
        source = f"an estimate: counted with {sizes['encoder']}"
    return counts | {
        "distinct texts": f"{sizes['distinct_segments']:,} segments and {sizes['distinct_questions']:,} questions "
        f"({sizes['texts_source']})",
        "tokens": f"{sizes['tokens_within_512']:,} to embed of the {sizes['tokens']:,} in segments (each is read up to "
        f"512), {sizes['question_tokens']:,} in questions ({source})",
    }


def vector_bytes(plan: Plan) -> int:
    """Room that the vectors of the corpus take; 0 where nobody counted its texts."""
    spec = ENCODERS.get(plan.embedder or "")
    sizes = _sizes().get(plan.options.corpus, {})
    texts = int(sizes.get("distinct_segments", 0)) + int(sizes.get("distinct_questions", 0))
    return texts * 4 * (spec.stored_dims if spec else 0)


@cache
def _sizes() -> dict[str, dict[str, int | str]]:
    with Path(__file__).with_name("sizes.toml").open("rb") as file:
        return tomllib.load(file)
