"""Makes a labelled set of LoCoMo in which each conversation is a tenant, with the same segments, questions and gold.

    python benchmarks/locomo/tenants.py DIR

LoCoMo is found as every command finds it: in LOCOMO_DATA_DIR, or fetched before. DIR is then a set for commands that
tell of each tenant, such as `recallbench sweep FILE DIR`. It holds text of the corpus: keep it out of what you publish.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from recallbench.corpora.records import Haystack, Question, Segment
from recallbench.corpora.registry import open_corpus
from recallbench.protocol.frozen import load


def document(segment: Segment) -> dict[str, Any]:
    """Return a segment as a line of corpus.jsonl."""
    told = {"_id": segment.id, "text": segment.text, "tenant": segment.scope}
    return told if segment.occurred_at is None else {**told, "occurred_at": segment.occurred_at.isoformat()}


def label(question: Question) -> dict[str, Any]:
    """Return a question as a line of gold.jsonl."""
    relevant = [f"{question.scope}/{position}" for position in sorted(question.gold)]
    asked = {"query_id": question.id, "query": question.text, "relevant": relevant}
    return {**asked, "tenant": question.scope, "kind": question.kind}


def write(haystacks: Iterable[Haystack], folder: Path) -> tuple[int, int]:
    """Write corpus.jsonl and gold.jsonl; return how many documents and questions they have."""
    folder.mkdir(parents=True)
    documents = questions = 0
    with (
        (folder / "corpus.jsonl").open("w", encoding="utf-8") as corpus,
        (folder / "gold.jsonl").open("w", encoding="utf-8") as gold,
    ):
        for haystack in haystacks:
            corpus.writelines(json.dumps(document(segment)) + "\n" for segment in haystack.segments)
            asked = [question for question in haystack.questions if question.gold]
            gold.writelines(json.dumps(label(question)) + "\n" for question in asked)
            documents, questions = documents + len(haystack.segments), questions + len(asked)
    return documents, questions


def main() -> None:
    """Read the arguments, write the set, and say what it holds."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, metavar="DIR", help="a folder that is not there yet")
    arguments = parser.parse_args()
    corpus = open_corpus("locomo", rules=load(), environ=os.environ)
    documents, questions = write(corpus.haystacks(), arguments.folder)
    print(f"{arguments.folder}: {documents} sessions, {questions} questions")


if __name__ == "__main__":
    main()
