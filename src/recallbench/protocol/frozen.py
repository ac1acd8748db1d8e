"""Reads the protocol files, after checking them against their lock."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from recallbench.errors import ProtocolChanged
from recallbench.protocol.lock import Lock, clarification_bytes, frozen_bytes, lock_of
from recallbench.protocol.packed_vectors import PackRules
from recallbench.protocol.rules import Clarification, CorpusRules, EmbedderRules, Rules, WeightFile

VERSION = "1.0.0"
FOLDER = Path(__file__).parent

Table = dict[str, Any]


class Data(NamedTuple):
    """The two files as TOML has them."""

    frozen: Table
    clarifications: list[Table]


@cache
def load() -> Rules:
    """The rules in force; raises ProtocolChanged, with both hashes, when a locked file was changed."""
    return read(FOLDER)


def read(folder: Path) -> Rules:
    """The rules of the protocol files in `folder`."""
    lock = lock_of(VERSION, folder)
    data = read_data(folder)
    frozen = data.frozen
    if frozen["protocol"]["published_sha256"] != lock.published_sha256:
        raise ProtocolChanged(
            f"{folder / lock.frozen_file}: protocol.published_sha256 names another text than the lock",
            expected=f"sha256 {lock.published_sha256}",
            found=f"sha256 {frozen['protocol']['published_sha256']}",
        )
    facts = {entry["number"]: entry["facts"] for entry in data.clarifications}
    embedders = {name: _embedder(name, table) for name, table in frozen["embedders"].items()}
    without_figures = frozenset(number for number, table in facts.items() if table.get("figures") == "as before")
    kinds = {int(number): name for number, name in facts[3]["categories"].items()}
    return Rules(
        version=frozen["protocol"]["version"],
        frozen=frozen["protocol"]["frozen"].isoformat(),
        cited_as=frozen["protocol"]["cited_as"],
        sha256=lock.frozen_sha256,
        clarifications_sha256=lock.clarifications_sha256,
        earlier_clarifications=tuple(stage.sha256 for stage in lock.stages[:-1]),
        published_sha256=lock.published_sha256,
        max_tokens=frozen["parameters"]["max_seq_length"],
        batch_size=frozen["parameters"]["batch_size"],
        seed=frozen["parameters"]["PYTHONHASHSEED"],
        default_k=frozen["metrics"]["default_k"],
        mrr_depth=frozen["metrics"]["mrr_depth"],
        settings=frozen["settings"],
        canonical_store=frozen["call"]["store"],
        corpora={name: _corpus(name, frozen, facts, embedders) for name in frozen["corpora"]},
        embedders=embedders,
        gates=tuple((gate["name"], gate["requirement"]) for gate in frozen["gates"]),
        clarifications=tuple(_clarification(entry) for entry in data.clarifications),
        locomo_kinds=kinds,
        evidence_repairs={row["evidence"]: tuple(row["sessions"]) for row in facts[4]["repairs"]},
        weights=tuple(WeightFile(**row) for row in facts[17]["weights"]),
        packs=PackRules(facts[18]["texts_embedded_again"], facts[18]["least_cosine"]),
        without_figures=without_figures,
        figures_of=_figures_of(lock, without_figures),
    )


def read_data(folder: Path = FOLDER, number: Callable[[str], object] = float) -> Data:
    """Both files as tables, checked against the lock before they are parsed; `number` reads decimals."""
    lock = lock_of(VERSION, folder)
    frozen = tomllib.loads(frozen_bytes(lock, folder).decode("utf-8"), parse_float=number)
    entries = tomllib.loads(clarification_bytes(lock, folder).decode("utf-8"), parse_float=number)["clarifications"]
    numbers = [entry["number"] for entry in entries]
    if numbers != list(range(1, lock.stages[-1].through + 1)):
        raise ProtocolChanged(
            f"{folder / lock.clarifications_file}: clarifications are numbered without a hole, and only appended",
            expected=f"1 to {lock.stages[-1].through}, in order",
            found=", ".join(str(number) for number in numbers),
        )
    return Data(frozen, entries)


def _figures_of(lock: Lock, without_figures: frozenset[int]) -> dict[str, str]:
    """Return the first release with the same figures, for each release of the clarifications."""
    first: dict[str, str] = {}
    before, through = "", 0
    for stage in lock.stages:
        alike = before and without_figures.issuperset(range(through + 1, stage.through + 1))
        first[stage.sha256] = first[before] if alike else stage.sha256
        before, through = stage.sha256, stage.through
    return first


def _corpus(
    name: str, frozen: Table, facts: Mapping[int, Table], embedders: Mapping[str, EmbedderRules]
) -> CorpusRules:
    table = frozen["corpora"][name]
    baselines = frozen["baselines"][name]
    return CorpusRules(
        name=name,
        paper=table["paper"],
        source=table["source"],
        file=table["file"],
        sha256=table["sha256"],
        revision=table.get("revision", ""),
        variable=table["variable"],
        embedder=next(embedder.name for embedder in embedders.values() if embedder.corpus == name),
        scopes=table["scopes"],
        questions=table["questions"],
        with_evidence=table["scored"],
        abstentions=table.get("abstentions", 0),
        segments=table["segments"],
        kinds=table["kinds"] if "kinds" in table else facts[3]["counts"],
        segments_per_scope=tuple(table.get("segments_per_scope", ())),
        forbidden_segments=table.get("forbidden_segments", 0),
        denominators=facts[5][name],
        bands=frozen["bands"][name],
        baselines={metric: row["value"] for metric, row in baselines.items()},
        baseline_intervals={
            metric: (row["ci95_low"], row["ci95_high"]) for metric, row in baselines.items() if "ci95_low" in row
        },
    )


def _embedder(name: str, table: Table) -> EmbedderRules:
    return EmbedderRules(
        name=name,
        corpus=table["corpus"],
        query_repo=table["query_repo"],
        query_revision=table["query_revision"],
        context_repo=table["context_repo"],
        context_revision=table["context_revision"],
        dims=table["dims"],
        stored_dims=table["stored_dims"],
    )


def _clarification(entry: Table) -> Clarification:
    return Clarification(
        number=entry["number"],
        dated=entry["date"],
        title=entry["title"],
        text=" ".join(entry["text"].split()),
        corpora=tuple(entry["corpora"]),
    )
