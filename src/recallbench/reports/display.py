"""Objects that show themselves: as text at a prompt, as tables in a notebook."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from recallbench.escaping.web import html
from recallbench.reports.plot import Plot
from recallbench.reports.table import Part, Table, plain_lines


class Display(ABC):
    """Lines, tables and plots that a prompt and a notebook show for an object."""

    __slots__ = ()

    @abstractmethod
    def displayed(self) -> Sequence[Part | Plot]:
        """Return what is shown, in order."""

    def __str__(self) -> str:
        return "\n".join(plain_lines(*(part for part in self.displayed() if not isinstance(part, Plot))))

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return "\n".join(line for part in self.displayed() for line in _markup(part))


def _markup(part: Part | Plot) -> list[str]:
    if isinstance(part, Plot):
        return [part.image()]
    if isinstance(part, Table):
        return part.html()
    return [f"<p>{html(part)}</p>"] if part else []
