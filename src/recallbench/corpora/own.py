"""`own/<name>@<sha256>+<shape>`: a corpus file of one's own, in the shape of a registered one, under its own name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from recallbench.corpora.entry import CorpusEntry, unregistered
from recallbench.corpora.labelled_sets.set_name import OWN_PREFIX, folder_word
from recallbench.corpora.stream import sha256_of
from recallbench.errors import UsageError
from recallbench.reading import regular


class OwnName(NamedTuple):
    """The name that its user gave it, the hash of its file, and the registered corpus whose reader reads it."""

    name: str
    sha256: str
    shape: str

    def __str__(self) -> str:
        return f"{OWN_PREFIX}{self.name}@{self.sha256}+{self.shape}"


def is_own_name(name: str) -> bool:
    """Tell whether the name is one of a user's own corpus."""
    return name.startswith(OWN_PREFIX)


def identify(file: Path, shape: str, name: str | None = None) -> OwnName:
    """Return the name of a file's corpus in results; by default it is called like the file.

    Raises UsageError for a name of which nothing would be left.
    """
    if name and not re.search("[A-Za-z0-9]", name):
        raise UsageError(
            "a corpus of your own can't have this name",
            expected="letters from a to z, digits, . _ + and -: it is part of paths",
            found=name,
            remedy="name it otherwise with --name",
        )
    return OwnName(folder_word(name or file.stem), sha256_of(regular(file)), shape)


def own_entry(name: str, shapes: Mapping[str, CorpusEntry]) -> CorpusEntry:
    """Declare the corpus of a name; raises UsageError for a name that no such corpus can have."""
    stated = re.fullmatch(rf"{OWN_PREFIX}(?P<name>[^@]+)@(?P<sha256>[0-9a-f]{{64}})\+(?P<shape>.+)", name)
    if stated is None or stated["shape"] not in shapes:
        raise UsageError(
            f"{name} names no corpus of one's own",
            expected=f"{OWN_PREFIX}<name>@<sha256>+<shape>, the shape being {' or '.join(shapes)}",
            found=name,
            remedy="`recallbench run --corpus-shape SHAPE --corpus-file FILE --name NAME` works the name out",
        )
    facts = unregistered(name, stated["name"], stated["sha256"])
    return replace(
        shapes[stated["shape"]],
        name=name,
        facts=lambda _: facts,
        licence="",
        download=None,
        brought=True,
    )
