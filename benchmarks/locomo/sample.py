"""Makes a smaller LoCoMo: every conversation whole, with so many of its questions, evenly spread.

    python benchmarks/locomo/sample.py FILE OUT [--questions 20]

Slow stages can be tried on it with intervals, which the first questions of the file (`--limit`) don't give: they come
from one or two conversations. Run it with `--corpus-shape locomo --corpus-file OUT --name NAME`. OUT holds text of the
corpus: keep it out of what you publish.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any


def sampled(conversation: dict[str, Any], count: int) -> dict[str, Any]:
    """Return a conversation with so many of the questions that name evidence, fewer where it has fewer."""
    answerable = [question for question in conversation["qa"] if question.get("evidence")]
    count = min(count, len(answerable))
    return {**conversation, "qa": [answerable[i * len(answerable) // count] for i in range(count)]}


def main() -> None:
    """Read the arguments, write the file, and say what it holds."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path, metavar="FILE", help="LoCoMo's file, as recallbench fetches it")
    parser.add_argument("out", type=Path, metavar="OUT", help="a file that is not there yet")
    parser.add_argument("--questions", type=int, default=20, help="of each conversation [default: 20]")
    arguments = parser.parse_args()
    smaller = [sampled(conversation, arguments.questions) for conversation in json.loads(arguments.file.read_bytes())]
    with arguments.out.open("x", encoding="utf-8") as out:
        json.dump(smaller, out, ensure_ascii=False)
    print(f"{arguments.out}: {len(smaller)} conversations, {sum(len(each['qa']) for each in smaller)} questions")


if __name__ == "__main__":
    main()
