"""Many commands of the real command line, and what each left."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from commandline import recallbench


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
    settings = {"XDG_CONFIG_HOME": str(place / "settings"), **(env or {})}
    done = {name: recallbench(*words, cwd=place, env=settings) for name, words in commands.items()}
    return {name: Outcome(end.returncode, end.stdout, end.stderr) for name, end in done.items()}
