"""Every failure a user can meet, with the exit code it ends in."""

from __future__ import annotations

from recallbench.confidential import concealed, sanitised
from recallbench.escaping.terminal import visible, visible_lines


class RecallBenchError(Exception):
    """A failure that the user sees without a traceback, unless it is that of code of the user's own."""

    exit_code = 2

    def __init__(
        self, problem: str, *, expected: str = "", found: str = "", remedy: str = "", traceback: str = ""
    ) -> None:
        # Here, since it is printed, written into BLOCKED.md and kept with questions that failed.
        self.problem, self.found, self.traceback = sanitised(problem), sanitised(found), sanitised(traceback)
        # An address that is given as an example stays as it is.
        self.expected, self.remedy = concealed(expected, words=True), concealed(remedy, words=True)
        super().__init__(self.problem)

    def __str__(self) -> str:
        lines = [visible(self.problem)]
        for label, value in (("expected", self.expected), ("found", self.found), ("what to do", self.remedy)):
            if value:
                # What a server or a file says may have several lines: none of them passes for one of these.
                lines.append(f"  {label}: {visible_lines(value)}".replace("\n", "\n    "))
        return "\n".join([*lines, *filter(None, [self.own_code])])

    @property
    def own_code(self) -> str:
        """The lines of the user's code that failed, under a heading; empty where none did."""
        if not self.traceback:
            return ""
        return f"  in your code, the last call last:\n{visible_lines(self.traceback)}".replace("\n", "\n    ")

    @property
    def brief(self) -> str:
        """The failure in one line, without what to do."""
        seen = [f"{label} {value}" for label, value in (("expected", self.expected), ("found", self.found)) if value]
        return visible("; ".join([self.problem, *([", ".join(seen)] if seen else [])]))


class UsageError(RecallBenchError):
    """The command asks for something that makes no sense."""


class InputError(RecallBenchError):
    """A file can't be read, or lacks what it must hold."""


class ProtocolChanged(RecallBenchError):
    """A frozen protocol file is not the one that was locked."""


class Blocked(RecallBenchError):
    """A prerequisite is missing; `remedy` is the command that gets it."""

    exit_code = 3


class TooManyConnections(Blocked):
    """A server takes no further caller, and goes on serving those it has."""
