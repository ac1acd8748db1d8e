"""The bundled canary: two small synthetic corpora in the shape of the real ones, with their facts."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from functools import cache
from pathlib import Path

from recallbench.corpora import locomo, longmemeval
from recallbench.corpora.entry import CorpusEntry
from recallbench.protocol.rules import CorpusRules

FOLDER = Path(__file__).parent / "canary"
LICENCE = "Apache-2.0"
"""The project's own."""


@cache
def facts() -> dict[str, CorpusRules]:
    """Return the registered facts of each canary corpus, by name."""
    with (Path(__file__).parent / "canary.toml").open("rb") as file:
        tables = tomllib.load(file)
    return {
        name: CorpusRules(
            name=name,
            paper="",
            source="",
            file=table["file"],
            sha256=table["sha256"],
            revision="",
            variable="",
            embedder="minilm",
            questions=table["questions"],
            with_evidence=table["with_evidence"],
            segments=table["segments"],
            kinds=table["kinds"],
            segments_per_scope=tuple(table["segments_per_scope"]),
            forbidden_segments=table["turns"] if name == "canary-locomo" else 0,
            bands={},
            baselines={},
            denominators=table["denominators"],
            scopes=len(table["segments_per_scope"]),
            abstentions=table["abstentions"],
        )
        for name, table in tables.items()
    }


def _bundled(entry: CorpusEntry) -> CorpusEntry:
    name = f"canary-{entry.name}"
    own = facts()[name]
    return replace(entry, name=name, facts=lambda _: own, licence=LICENCE, bundled=FOLDER / own.file, download=None)


CORPORA = tuple(_bundled(entry) for entry in (*locomo.CORPORA, *longmemeval.CORPORA))
