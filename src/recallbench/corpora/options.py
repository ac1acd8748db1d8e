"""An option of a corpus, declared once, beside its reader: commands and their help follow from it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CorpusOption:
    """One option of a corpus that its user brings along.

    A registered corpus has none: changed by an option it would be another corpus, with a name of its own.
    """

    name: str
    help: str
    """What it decides, as help prints it."""
    type: type[str | int | float] = str
    values: tuple[str, ...] = ()
    """The values that there are; empty where any of its type will do."""
    default: str | None = None
    repeated: bool = False
    """Whether it may be given several times."""
