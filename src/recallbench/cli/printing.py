"""How the output of a command gets onto the screen: its format, its colours, and its last line in words."""

from __future__ import annotations

import os
import sys
from typing import TextIO

from recallbench.cli.screen import Screen, underlying_stream
from recallbench.reports.printing.conclusion import Conclusion
from recallbench.reports.printing.printed import Format, Printed
from recallbench.reports.table import print_parts

COLOURS = {"good": "32", "open": "33", "bad": "31"}


def show(printed: Printed, format: Format = "text") -> None:
    """Print on stdout; a sheet holds rows alone, so its conclusion goes to stderr."""
    if format == "text":
        print_parts(*printed.parts)
        if printed.conclusion is not None:
            conclude(printed.conclusion)
        return
    print(printed.render(format), end="", flush=True)
    if format == "csv" and printed.conclusion is not None:
        conclude(printed.conclusion, sys.stderr)


def conclude(conclusion: Conclusion, stream: TextIO | None = None, *, apart: bool = True) -> None:
    """Print the last line of a command, in colour where the stream is a terminal that has any.

    A blank line goes before it where it stands `apart` from others.
    """
    stream = stream or sys.stdout
    stream.write("\n" if apart else "")
    if has_colours(stream) and isinstance(stream, Screen):
        stream.write_coloured(str(conclusion), COLOURS[conclusion.tone])
    else:
        stream.write(str(conclusion))
    stream.write("\n")
    stream.flush()


def has_colours(stream: TextIO) -> bool:
    """Whether colours may be written: a terminal that knows them, and a user who did not set NO_COLOR."""
    knows = underlying_stream(stream).isatty() and os.environ.get("TERM", "") not in ("", "dumb")
    return knows and not os.environ.get("NO_COLOR")
