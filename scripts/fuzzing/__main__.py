"""`scripts/fuzz`: the command line of the campaign."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path

from fuzzing import campaign, place
from fuzzing.readers import READERS
from fuzzing.trial import load_libraries

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build" / "fuzz"


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/fuzz", description=__doc__)
    parser.add_argument("--cases", type=int, default=100_000, help="how many cases (default: 100000)")
    parser.add_argument("--seed", type=int, default=1, help="what all changes follow from (default: 1)")
    parser.add_argument("--reader", action="append", help="one reader alone; repeat it for several")
    parser.add_argument(
        "--workers", type=int, default=os.cpu_count() or 1, help="processes (default: one per processor)"
    )
    parser.add_argument(
        "--replay", type=Path, metavar="FINDING", help="do a kept case again, and print what becomes of it"
    )
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where progress and findings are kept")
    asked = parser.parse_args()
    names = [reader.name for reader in READERS]
    if unknown := [name for name in asked.reader or () if name not in names]:
        parser.error(f"there is no reader {unknown[0]}: {', '.join(names)}")
    readers = [reader for reader in READERS if not asked.reader or reader.name in asked.reader]
    asked.replay = asked.replay and asked.replay.resolve()
    kept = asked.folder.resolve() / "-".join(["seed", str(asked.seed), *(asked.reader or ())])
    kept.mkdir(parents=True, exist_ok=True)
    _surroundings(kept)
    load_libraries()
    valid = Path(tempfile.mkdtemp(prefix="recallbench-fuzz-"))
    try:
        lacking = place.make(_entered(valid))
        for problem in lacking:
            print(f"a valid file could not be made: {problem}", file=sys.stderr)
        if lacking:
            return 2
        if asked.replay is not None:
            return _replayed(valid, asked.replay)
        return _campaign(valid, kept, asked.seed, asked.cases, asked.workers, readers)
    finally:
        os.chdir(ROOT)
        shutil.rmtree(valid, ignore_errors=True)


def _entered(valid: Path) -> Path:
    os.chdir(valid)
    return valid


def _surroundings(kept: Path) -> None:
    """Nothing of the user's: no server, no data, no network, no cache."""
    home = kept / "home"
    for name in [name for name in os.environ if name.startswith(("PG", "HF_", "RECALLBENCH", "LOCOMO", "LONGMEMEVAL"))]:
        del os.environ[name]
    nowhere = "http://127.0.0.1:9"
    os.environ.update(HOME=str(home), XDG_CACHE_HOME=str(home / "cache"), XDG_CONFIG_HOME=str(home / "settings"))
    os.environ.update(HF_HUB_OFFLINE="1", HF_ENDPOINT=nowhere, PIP_NO_INDEX="1", RECALLBENCH_RAW_FILES_URL=nowhere)
    os.environ.update(RECALLBENCH_LOCOMO_URL=nowhere, RECALLBENCH_DATA_DIR=str(home / "data"))


def _replayed(valid: Path, finding: Path) -> int:
    one = campaign.kept_case(finding)
    outcome = campaign.perform(valid, one)
    print(f"{one.reader.name}, {one.file}: {outcome.kind} {outcome.signature}\n{outcome.text}")
    return 0 if outcome.accepted else 1


def _campaign(valid: Path, kept: Path, seed: int, cases: int, workers: int, readers: list[campaign.Reader]) -> int:
    log, findings = kept / "done.jsonl", kept / "findings"
    print(f"seed {seed}: {cases:,} cases over {len(readers)} readers; findings go to {findings}", flush=True)
    chunks = range(-(-cases // campaign.CHUNK))
    done = campaign.noted(log)
    began, before = time.monotonic(), sum(1 for chunk in chunks if chunk in done)
    children = []
    for worker in range(workers):
        if child := os.fork():
            children.append(child)
            continue
        own = Path(tempfile.mkdtemp(prefix="recallbench-fuzz-"))
        try:
            shutil.copytree(valid, own, dirs_exist_ok=True)
            for chunk in (chunk for chunk in chunks if chunk % workers == worker and chunk not in done):
                first = chunk * campaign.CHUNK
                numbers = range(first, min(cases, first + campaign.CHUNK))
                campaign.note(log, chunk, campaign.run(own, findings, seed, numbers, readers))
        except Exception:  # noqa: BLE001 (of the trial itself: what it tries is caught where it is tried)
            traceback.print_exc()
        finally:
            os.chdir(ROOT)
            shutil.rmtree(own, ignore_errors=True)
            os._exit(0)
    last = time.monotonic()
    while children:
        ended, _ = os.waitpid(-1, os.WNOHANG)
        children = [child for child in children if child != ended]
        if time.monotonic() - last > 30:
            last = time.monotonic()
            now = sum(1 for chunk in chunks if chunk in campaign.noted(log))
            rate = (now - before) * campaign.CHUNK / (last - began)
            print(f"{now * campaign.CHUNK:,} cases, {rate:.0f} a second", file=sys.stderr, flush=True)
        time.sleep(0.2)
    return _told([tally for chunk, tally in campaign.noted(log).items() if chunk in chunks], cases, findings)


def _told(tallies: list[campaign.Tally], cases: int, findings: Path) -> int:
    kinds: Counter[str] = sum((tally.kinds for tally in tallies), Counter())
    found: Counter[str] = sum((tally.findings for tally in tallies), Counter())
    for signature, count in found.most_common():
        print(f"{count:6}  {signature}")
    total = sum(kinds.values())
    print(", ".join(f"{count:,} {kind}" for kind, count in kinds.most_common()))
    if total < cases:
        print(f"{total:,} of {cases:,} cases were done: the same command goes on")
        return 2
    if found:
        print(f"{sum(found.values()):,} of {total:,} cases went wrong, in {len(found)} ways: see {findings}")
        return 1
    print(f"All {total:,} cases were read or refused in good order.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
