"""Jobs of tests: tiny, and of every kind that goes wrong."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from recallbench.cluster.job import Share
from recallbench.errors import InputError


@dataclass(frozen=True)
class Doubling:
    """Doubles numbers; a word in place of a number says what goes wrong."""

    share: Share = "node"
    has: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 0.02

    def open(self, cores: int, *, gpu: bool) -> OpenedDoubling:
        return OpenedDoubling(self)


class OpenedDoubling:
    def __init__(self, job: Doubling) -> None:
        self._job = job

    def facts(self) -> Mapping[str, str]:
        return self._job.has

    def do(self, item: Any) -> Any:
        time.sleep(self._job.seconds)
        if item == "ends its worker":
            os._exit(7)
        if item == "fails":
            raise InputError("a word can't be doubled", expected="a number", found=item)
        if item == "has a defect":
            raise ValueError("this is no number")
        if isinstance(item, str):
            return np.zeros(int(item.removesuffix(" MB")) << 20, np.uint8)
        return 2 * item
