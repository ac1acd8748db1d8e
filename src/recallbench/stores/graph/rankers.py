"""How the graph store may rank."""

from __future__ import annotations

from typing import Literal, get_args

Ranker = Literal["importance", "neighbours"]
RANKERS: tuple[str, ...] = get_args(Ranker)
DEFAULT_RANKER: Ranker = "neighbours"
