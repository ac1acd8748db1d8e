"""The ways to name an encoder of one's own, each declared in a module of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recallbench.embedding.memo import Memo
from recallbench.embedding.options import Backend, Dtype
from recallbench.embedding.text_encoder import TextEncoder
from recallbench.progress import Progress


@dataclass(frozen=True, slots=True)
class EncoderRequest:
    """What an encoder is opened with."""

    name: str
    """As it was typed."""
    cache_dir: Path
    environ: Mapping[str, str]
    progress: Progress
    backend: Backend = "auto"
    max_tokens: int | None = None
    """The user's own length."""
    dtype: Dtype = "fp32"
    """What it computes in."""

    @property
    def memo(self) -> Memo:
        """Small facts that are remembered between runs."""
        return Memo(self.cache_dir / "memo")

    @property
    def place(self) -> str:
        """The name without its scheme."""
        return self.name.partition(":")[2]


@dataclass(frozen=True, slots=True)
class EncoderForm:
    """A way to name an encoder."""

    typed: str
    """How it is typed."""
    summary: str
    recorded: Callable[[str], str]
    """Returns the name as results may hold it; raises UsageError for one that makes no sense."""
    open: Callable[[EncoderRequest], TextEncoder[Any]]
    status: Callable[[EncoderRequest], tuple[bool, str, str]]
    """Returns whether it could be used now, in words, and what to do; embeds nothing."""
    facts: Mapping[str, str]
    """Pattern of each fact that its fingerprint always has, for an audit."""
    further: Mapping[str, str]
    """Pattern of facts that it may have besides, by a pattern of their name."""
    takes_dtype: bool = False
    """Whether an engine here may run it in fewer bits."""
    takes_length: bool = False
    """Whether its user may set how much of a text it reads."""
