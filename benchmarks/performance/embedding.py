"""The embedding stage on LoCoMo's 272 real segments with MiniLM, on this machine's CPU.

It is held against bare forward passes of the same backend over the same padded batches, and against
`SentenceTransformer.encode` (torch fp32, batch 8, 512 tokens), all three in turn within one run. The stage includes
tokenising, sorting, padding and writing the cache; loading, compiling and the proof are shown apart.
Run: python benchmarks/performance/embedding.py [locomo10.json]    (or LOCOMO_DATA_DIR)
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from recallbench.corpora.records import Haystack
from recallbench.corpora.registry import open_corpus
from recallbench.embedding.embedder import Embedder
from recallbench.embedding.encoders import ENCODERS
from recallbench.embedding.openvino_engine import OpenvinoEngine, converted
from recallbench.embedding.registry import open_embedder
from recallbench.embedding.tokens import EncoderTokenizer
from recallbench.embedding.torch_engine import Batch, TorchEngine, load_module, pad_batch
from recallbench.embedding.weights import FileResolver
from recallbench.progress import Silent
from recallbench.protocol.frozen import load
from row import Row, median, show

ROUNDS, SLICES, DEPTH, TIE = 3, 4, 10, 1e-6
SPEC = ENCODERS["minilm"]


def rows(file: Path | None = None) -> list[Row]:
    """Time the three in turn; ratios are of the medians over the rounds."""
    haystacks = list(open_corpus("locomo", rules=load(), environ=os.environ, file=file).haystacks())
    texts = [segment.text for haystack in haystacks for segment in haystack.segments]
    with TemporaryDirectory() as folder:
        return _measure(haystacks, texts, Path(folder))


def _measure(haystacks: Sequence[Haystack], texts: list[str], cache: Path) -> list[Row]:
    resolver = FileResolver(SPEC.name, os.environ, cache, Silent())
    paths = resolver.verified_paths(SPEC.passage)
    theirs = _sentence_transformer(paths["config.json"].parent)
    # Other texts of the same lengths load, compile and prove first, so that the work alone is timed.
    warming = [" ".join(reversed(text.split())) for text in texts[::7]]

    def opened() -> Embedder:
        shutil.rmtree(cache / "vectors", ignore_errors=True)
        embedder = open_embedder(SPEC, cache_dir=cache)
        embedder.ensure(warming, "passage")
        return embedder

    ours = opened()
    first = ours.report()
    module = load_module(SPEC, SPEC.passage, paths)
    engine = (
        OpenvinoEngine(converted(module)) if first.backend.startswith("openvino") else TorchEngine(module, first.device)
    )
    tokenizer = EncoderTokenizer(resolver.verified_paths(SPEC.tokenizer), SPEC.max_tokens)
    # In slices, so that whatever else the machine does meanwhile falls on all three sides alike.
    slices = [
        (texts[start::SLICES], _batches(tokenizer, module.pad_id, texts[start::SLICES])) for start in range(SLICES)
    ]
    for _, batches in slices:
        engine(batches[-1])
    seconds: dict[tuple[str, int], list[float]] = defaultdict(list)
    for turn in range(ROUNDS):
        if turn:
            ours.close()
            ours = opened()
        for number, (part, batches) in enumerate(slices):
            seconds["stage", number].append(_timed(ours.ensure, part, "passage"))
            seconds["bare", number].append(_timed(lambda some: [engine(batch) for batch in some], batches))
            seconds["encode", number].append(_timed(theirs, part))
    stage, bare, encode = (
        sum(median(seconds[side, number]) for number in range(SLICES)) for side in ("stage", "bare", "encode")
    )
    differing, ties = _differences(haystacks, ours, theirs)
    ours.close()
    faster = first.backend.startswith("openvino")
    apart = ", ".join(f"{part} {first.seconds.get(part, 0.0):.1f} s" for part in ("load", "compile", "proof"))
    questions = sum(len(haystack.questions) for haystack in haystacks)
    return [
        Row(
            f"embedding stage against bare forward passes ({first.backend})",
            "at least 0.95 of their throughput",
            f"{bare / stage:.3f} ({len(texts) / stage:.1f} against {len(texts) / bare:.1f} texts/s; apart: {apart})",
            bare / stage >= 0.95,
        ),
        Row(
            "embedding stage against SentenceTransformer.encode",
            "at least 2.0 times its throughput (with OpenVINO)" if faster else "2.0 times asked of OpenVINO only",
            f"{encode / stage:.2f} times ({len(texts) / stage:.1f} against {len(texts) / encode:.1f} texts/s)",
            encode / stage >= 2.0 or not faster,
        ),
        Row(
            "top-10 lists against SentenceTransformer.encode",
            f"identical but for neighbours within {TIE:g}",
            f"{differing} differ beyond that, {ties} within it, of {questions}",
            differing == 0,
        ),
    ]


def _sentence_transformer(folder: Path) -> Callable[[list[str]], Any]:
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(folder), device="cpu")
    model.max_seq_length = SPEC.max_tokens
    return lambda texts: model.encode(texts, batch_size=SPEC.batch_size, show_progress_bar=False)


def _batches(tokenizer: EncoderTokenizer, pad_id: int, texts: list[str]) -> list[Batch]:
    ids = [text.ids for text in sorted(tokenizer.tokenise(texts), key=lambda text: -text.tokens)]
    return [pad_batch(ids[start : start + SPEC.batch_size], pad_id) for start in range(0, len(ids), SPEC.batch_size)]


def _timed(work: Callable[..., object], *arguments: Any) -> float:
    started = time.perf_counter()
    work(*arguments)
    return time.perf_counter() - started


def _differences(haystacks: Sequence[Haystack], ours: Embedder, theirs: Callable[[list[str]], Any]) -> tuple[int, int]:
    """Count questions whose top 10 differ by more than a tie, and by ties alone; both sides score in float64."""
    beyond = within = 0
    for haystack in haystacks:
        segments = [segment.text for segment in haystack.segments]
        questions = [question.text for question in haystack.questions]
        left = _scores(ours.lookup(questions, "query").vectors, ours.lookup(segments, "passage").vectors)
        right = _scores(theirs(questions), theirs(segments))
        for mine, other in zip(left, right, strict=True):
            tops = [np.argsort(-scores, kind="stable")[:DEPTH] for scores in (mine, other)]
            if (tops[0] == tops[1]).all():
                continue
            # Where the lists part, their own scores must be all but equal at each place.
            gaps = [np.abs(scores[tops[0]] - scores[tops[1]]).max() for scores in (mine, other)]
            beyond, within = (beyond + 1, within) if max(gaps) > TIE else (beyond, within + 1)
    return beyond, within


def _scores(questions: Any, segments: Any) -> Any:
    return np.asarray(questions, np.float64) @ np.asarray(segments, np.float64).T


if __name__ == "__main__":
    raise SystemExit(show(rows(Path(sys.argv[1]) if len(sys.argv) > 1 else None)))
