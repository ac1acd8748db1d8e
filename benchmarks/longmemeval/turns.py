"""Makes a labelled set of LongMemEval's turns: each turn a document of its own, each item a scope.

    python benchmarks/longmemeval/turns.py FILE DIR [--items 50]

DIR is then a set for `recallbench evaluate DIR`. It holds text of the corpus: keep it out of what you publish.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ijson


def items(file: Path, count: int) -> Iterator[dict[str, Any]]:
    """Yield so many of the items that have an answer and turns marked to hold it, evenly spread over the file."""
    with file.open("rb") as stream:
        places = [place for place, item in enumerate(ijson.items(stream, "item")) if _is_answered_by_turns(item)]
    if count > len(places):
        raise SystemExit(f"{file} has {len(places)} such items: choose --items {len(places)} or fewer")
    chosen = {places[i * len(places) // count] for i in range(count)}
    with file.open("rb") as stream:
        yield from (item for place, item in enumerate(ijson.items(stream, "item")) if place in chosen)


def _is_answered_by_turns(item: dict[str, Any]) -> bool:
    marked = any(turn.get("has_answer") for session in item["haystack_sessions"] for turn in session)
    return marked and not item["question_id"].endswith("_abs")


def write(file: Path, folder: Path, count: int) -> tuple[int, int]:
    """Write corpus.jsonl and gold.jsonl; return how many documents and questions they have."""
    folder.mkdir(parents=True)
    documents = questions = 0
    with (folder / "corpus.jsonl").open("w") as corpus, (folder / "gold.jsonl").open("w") as gold:
        for item in items(file, count):
            scope, relevant = item["question_id"], []
            for session, turns in enumerate(item["haystack_sessions"]):
                for place, turn in enumerate(turns):
                    if not turn["content"].strip():
                        continue
                    id = f"{scope}-{session}-{place}"
                    text = f"{turn['role']}: {turn['content']}"
                    corpus.write(json.dumps({"_id": id, "text": text, "scope": scope}) + "\n")
                    documents += 1
                    if turn.get("has_answer"):
                        relevant.append(id)
            asked = {"query_id": scope, "query": item["question"], "relevant": relevant, "scope": scope}
            gold.write(json.dumps({**asked, "kind": item["question_type"], "answer": str(item["answer"])}) + "\n")
            questions += 1
    return documents, questions


def main() -> None:
    """Read the arguments, write the set, and say what it holds."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path, metavar="FILE", help="LongMemEval's file, as recallbench fetches it")
    parser.add_argument("folder", type=Path, metavar="DIR", help="a folder that is not there yet")
    parser.add_argument("--items", type=int, default=50, help="how many items [default: 50]")
    arguments = parser.parse_args()
    documents, questions = write(arguments.file, arguments.folder, arguments.items)
    print(f"{arguments.folder}: {documents} turns, {questions} questions")


if __name__ == "__main__":
    main()
