"""Many commands of the real command line for the start-up time of one: each is a fork of one loaded process."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from commandline import environment

FORKING = Path(__file__).with_name("forking.py")


@dataclass(frozen=True)
class Outcome:
    """What a command left: its exit code and what it printed."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """The JSON it printed; None where it printed nothing."""
        return json.loads(self.out) if self.out else None


def run_commands(
    place: Path, commands: Mapping[str, tuple[str, ...]], env: dict[str, str] | None = None
) -> dict[str, Outcome]:
    """Run each command in `place`, one after the other, and return what it left by its name."""
    place.mkdir(parents=True, exist_ok=True)
    settings = {"XDG_CONFIG_HOME": str(place / "settings")}
    more = {"PYTHONHASHSEED": "42", "OPENBLAS_NUM_THREADS": "1", **settings, **(env or {})}
    done = subprocess.run(
        [sys.executable, FORKING],
        input=json.dumps([list(words) for words in commands.values()]),
        cwd=place,
        env=environment(place, more),
        capture_output=True,
        text=True,
        check=True,
    )
    outcomes = dict(zip(commands, (Outcome(*fields) for fields in json.loads(done.stdout)), strict=True))
    for name, outcome in outcomes.items():
        print(f"{name}: $ recallbench {' '.join(commands[name])}\n{outcome.out}{outcome.err}[exit {outcome.code}]")
        assert "Traceback" not in outcome.err
        assert "defect of RecallBench" not in outcome.err
    return outcomes
