"""Write the tables of docs/scale.md: what a store of a size takes, worked out from what smaller ones took.

Everything follows from scripts/scaling/measured.toml: runs with their commands, the machine and the prices that are
assumed. Usage: .venv/bin/python scripts/make_scale.py [--check]

With --check nothing is written: exit 1 where the page is not current.
"""

from __future__ import annotations

import sys
from pathlib import Path

from scaling.constants import read
from scaling.page import rewritten, tables

PAGE = Path(__file__).resolve().parent.parent / "docs" / "scale.md"
COMMAND = ".venv/bin/python scripts/make_scale.py"


def main(words: list[str]) -> int:
    text = PAGE.read_text("utf-8")
    made = rewritten(text, tables(read()))
    if "--check" in words:
        if made != text:
            print(f"docs/scale.md is not current: {COMMAND}", file=sys.stderr)
        return int(made != text)
    PAGE.write_text(made, "utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
