"""`scripts/faults`: the command line of the campaign."""

from __future__ import annotations

import argparse
import signal
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock

from faulting import campaign
from faulting.campaign import KINDS, Note

FOLDER = Path(__file__).resolve().parents[2] / "build" / "faults"


def main() -> int:
    names = [kind.name for kind in KINDS]
    parser = argparse.ArgumentParser(prog="scripts/faults", description=__doc__)
    parser.add_argument("--kind", action="append", choices=names, help="one kind of fault alone; repeat it for several")
    parser.add_argument("--points", type=int, help="how many cases of each kind, at most (default: all; 200 kills)")
    parser.add_argument("--seed", type=int, default=1, help="what all points follow from (default: 1)")
    parser.add_argument("--minutes", type=float, default=1e9, help="begin no case after so many minutes")
    parser.add_argument("--workers", type=int, default=2, help="cases at a time (default: 2)")
    parser.add_argument("--replay", metavar="CASE", help="do one case again, as kill-17, and print what becomes of it")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where progress and findings are kept")
    asked = parser.parse_args()
    # A shell that starts this in the background has it ignored, and so would every command here.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if asked.replay is not None:
        done = campaign.do(asked.seed, asked.replay)
        print("\n".join([f"{done.case}: {done.about}", f"ended: {done.ended}", *done.problems]))
        return 1 if done.problems else 0
    kinds = [kind for kind in KINDS if asked.kind is None or kind.name in asked.kind]
    cases = [f"{kind.name}-{number}" for kind in kinds for number in range(_count(kind.cases, asked.points))]
    kept = asked.folder.resolve() / f"seed-{asked.seed}"
    kept.mkdir(parents=True, exist_ok=True)
    log, findings = kept / "done.jsonl", kept / "findings"
    print(f"seed {asked.seed}: {len(cases):,} cases; findings go to {findings}", flush=True)
    _campaign(cases, log, findings, asked.seed, asked.workers, time.monotonic() + 60 * asked.minutes)
    return _told(cases, campaign.noted(log), findings)


def _count(all_: int, points: int | None) -> int:
    return all_ if points is None else min(all_, points) if all_ < 200 else points


def _campaign(cases: list[str], log: Path, findings: Path, seed: int, workers: int, end: float) -> None:
    done, lock = campaign.noted(log), Lock()
    left = [case for case in cases if case not in done or done[case].problems]

    def one(case: str) -> None:
        if time.monotonic() > end:
            return
        result = campaign.do(seed, case)
        with lock:
            campaign.note(log, result)
            campaign.forget(findings, case)
            if result.problems:
                campaign.keep(findings, seed, result)
                print(f"{case}: {result.about}\n  {result.problems[0][:300]}", file=sys.stderr, flush=True)

    with ThreadPoolExecutor(workers) as pool:
        for _ in pool.map(one, left):
            pass


def _told(cases: list[str], done: dict[str, Note], findings: Path) -> int:
    mine = [done[case] for case in cases if case in done]
    for kind in dict.fromkeys(case.rpartition("-")[0] for case in cases):
        of_kind = [note for note in mine if note.case.rpartition("-")[0] == kind]
        ends = Counter(note.ended for note in of_kind if not note.problems)
        told = ", ".join(f"{count:,} ended {end}" for end, count in ends.most_common())
        seconds = sum(note.seconds for note in of_kind)
        print(f"{kind}: {len(of_kind):,} cases in {seconds:,.0f} s" + (f"; {told}" if told else ""))
    wrong = [note for note in mine if note.problems]
    for note in wrong:
        print(f"  {note.case}: {note.problems[0][:200]}")
    if len(mine) < len(cases):
        print(f"{len(mine):,} of {len(cases):,} cases were done: the same command goes on")
        return 2
    if wrong:
        print(f"{len(wrong):,} of {len(mine):,} cases went wrong: see {findings}")
        return 1
    twice = max((note.twice for note in mine), default=0)
    print(f"All {len(mine):,} cases ended well: equal results, nothing left, at most {twice} texts embedded twice.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
