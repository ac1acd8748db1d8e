"""`recallbench compare` on 2,000 questions and eight measures: the whole command, from its start to its last line.

The corpus is made up, in LoCoMo's shape: 10 conversations of 60 sessions and 200 questions in five kinds, so that each
ranking is 50 deep. Once as result folders (clustered, with kinds and the questions that changed most), once as TREC
runs of independent questions, where sign flips are drawn. Run: python benchmarks/performance/compare.py
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from row import Row, median, show

CONVERSATIONS, SESSIONS, QUESTIONS, ROUNDS, LIMIT = 10, 60, 200, 5, 2.0
WORDS = [f"{first}{last}" for first in ("bar", "cor", "del", "fen", "gal", "hil") for last in ("mo", "ne", "ra", "tu")]


def rows() -> list[Row]:
    """Return the median of five calls each."""
    with TemporaryDirectory() as scratch:
        folder = Path(scratch)
        (folder / "corpus.json").write_text(json.dumps(_corpus()))
        for name, words in (("a", ["bm25"]), ("b", ["exact", "--embedder", "hash"])):
            run = ["run", "locomo", "--corpus-file", "corpus.json", "--allow-deviation", "dataset", "--store", *words]
            _call(folder, *run, "--folder", name, "--quiet")
        calls = {
            "result folders of 10 conversations": ("a", "b", "--allow", "embedder,store"),
            "TREC runs of independent questions": ("a/run.trec", "b/run.trec", "--qrels", "a/qrels.trec"),
        }
        for words in calls.values():
            comparison = json.loads(_call(folder, "compare", *words, "--json").stdout)
            assert (comparison["n"], len(comparison["measures"])) == (CONVERSATIONS * QUESTIONS, 8)
        timings = {name: [_timed(folder, *words) for _ in range(ROUNDS)] for name, words in calls.items()}
    return [
        Row(
            f"`compare` on {CONVERSATIONS * QUESTIONS:,} questions x 8 measures, {name}",
            f"under {LIMIT:.0f} s",
            f"{median(seconds):.2f} s",
            median(seconds) < LIMIT,
        )
        for name, seconds in timings.items()
    ]


def _corpus() -> list[dict[str, object]]:
    draw = random.Random(42)
    conversations = []
    for number in range(CONVERSATIONS):
        talk: dict[str, object] = {"speaker_a": "Ada", "speaker_b": "Ben"}
        topics = [" ".join(draw.choices(WORDS, k=6)) for _ in range(SESSIONS)]
        for session, topic in enumerate(topics, 1):
            talk[f"session_{session}_date_time"] = f"1:{session % 60:02d} pm on {session % 28 + 1} May, 2023"
            talk[f"session_{session}"] = [{"speaker": "Ada", "dia_id": f"D{session}:1", "text": f"I saw {topic}."}]
        questions = []
        for _ in range(QUESTIONS):
            gold = draw.randrange(SESSIONS)
            words = " ".join(draw.sample(topics[gold].split(), 2))
            question = {"question": f"Where was {words}?", "answer": "here", "evidence": [f"D{gold + 1}:1"]}
            questions.append({**question, "category": draw.randint(1, 5)})
        conversations.append({"sample_id": f"conv-{number}", "conversation": talk, "qa": questions})
    return conversations


def _timed(folder: Path, *words: str) -> float:
    started = time.perf_counter()
    _call(folder, "compare", *words)
    return time.perf_counter() - started


def _call(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run([sys.executable, "-m", "recallbench", *words], cwd=folder, capture_output=True, text=True)
    if done.returncode not in (0, 1):
        raise SystemExit(f"recallbench {' '.join(words)}: {done.stderr}")
    return done


if __name__ == "__main__":
    raise SystemExit(show(rows()))
