"""Sets of the hub by configurations, as MTEB publishes them: corpus, queries, judgements and candidates, in Parquet.

`corpus`, `queries`, `default` (or `qrels`) and `top_ranked` are folders with the files of a split; of a set with
subsets they are `<subset>-corpus` and so on. What is fetched becomes the files of a set with candidates
(candidate_files.py).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recallbench.corpora.labelled_sets.candidate_files import CANDIDATES, QRELS
from recallbench.corpora.labelled_sets.labelled_records import DOCUMENTS, QUERIES
from recallbench.errors import InputError, UsageError
from recallbench.extras import require
from recallbench.reading import objects

ROLES = {
    "corpus": DOCUMENTS,
    "queries": QUERIES,
    "query": QUERIES,
    "qrels": QRELS,
    "default": QRELS,
    "data": QRELS,
    "top_ranked": CANDIDATES,
}
"""The file that each configuration becomes; `data` is how the hub's library calls the folder of `default`."""
NEEDED = (DOCUMENTS, QUERIES, QRELS)
_FILE = re.compile(
    rf"(?:(?P<subset>[A-Za-z0-9][\w.-]*)-)?(?P<role>{'|'.join(ROLES)})/(?P<split>[\w.]+?)(?:-\d{{5}}-of-\d{{5}})?\.(?:parquet|jsonl)",
    re.ASCII,
)


@dataclass(frozen=True, slots=True)
class HubConfigs:
    """The files of one split of a set, and the published ones that each is made of."""

    split: str
    files: Mapping[str, tuple[str, ...]]


class UnreadableError(Exception):
    """A published file is not of the form that its name promises."""

    def __init__(self, problem: str, expected: str, found: str) -> None:
        super().__init__(problem)
        self.expected, self.found = expected, found


def made_files(names: Iterable[str]) -> list[str]:
    """Return which of these are files of a set with candidates, and none that they were made of."""
    return [name for name in names if name.rpartition("/")[2] in (*NEEDED, CANDIDATES)]


def find_configs(repo: str, names: Sequence[str], split: str) -> HubConfigs | None:
    """Return the files of a split among all names of a dataset; None for one without configurations.

    A configuration without that split has its only one taken, as MTEB does. Raises UsageError where it has several, and
    where two folders hold one configuration.
    """
    found: dict[str, dict[str, list[str]]] = {}
    for name in sorted(names):
        if match := _FILE.fullmatch(name):
            local = "/".join(part for part in (match["subset"], ROLES[match["role"]]) if part)
            found.setdefault(local, {}).setdefault(match["split"], []).append(name)
    subsets = {local.removesuffix(QRELS) for local in found if local.endswith(QRELS)}
    whole = [subset for subset in subsets if all(f"{subset}{name}" in found for name in NEEDED)]
    if not whole:
        return None
    files: dict[str, tuple[str, ...]] = {}
    for subset in sorted(whole):
        for name in (*NEEDED, CANDIDATES):
            splits = found.get(f"{subset}{name}", {})
            folders = sorted({remote.partition("/")[0] for remotes in splits.values() for remote in remotes})
            if len(folders) > 1:
                raise UsageError(
                    f"{repo} has {subset}{name} twice",
                    expected="one folder for it",
                    found=" and ".join(f"{folder}/" for folder in folders),
                    remedy="name another commit or dataset, which has one of them",
                )
            if len(splits) > 1 and split not in splits:
                raise UsageError(
                    f"{repo} has no split {split}",
                    expected=", ".join(splits),
                    found=split,
                    remedy=f"--split {next(iter(splits))}",
                )
            if splits:
                files[f"{subset}{name}"] = tuple(splits.get(split) or next(iter(splits.values())))
    return HubConfigs(split, files)


def convert(name: str, paths: Sequence[Path], remotes: Sequence[str], target: Path) -> None:
    """Write the rows of published files as a file of the set; raises InputError where they can't be read."""
    role = name.rpartition("/")[2]
    with target.open("w", encoding="utf-8") as file:
        for path, remote in zip(paths, remotes, strict=True):
            for row in _rows(path, remote):
                try:
                    file.write(f"{_line(role, row)}\n")
                except KeyError as error:
                    raise InputError(
                        f"{remote} is none of a set's files",
                        expected=f"the column {error.args[0]}",
                        found=f"the columns {', '.join(map(str, row))}",
                        remedy="name another dataset: this one has another layout",
                    ) from None


def _line(role: str, row: Mapping[str, Any]) -> str:
    if role == QRELS:
        return f"{row['query-id']}\t{row['corpus-id']}\t{row['score']}"
    if role == CANDIDATES:
        fields = {"scene_id": str(row["query-id"]), "candidate_doc_ids": list(map(str, row["corpus-ids"]))}
    else:
        fields = {"id": str(row["_id"] if "_id" in row else row["id"]), "text": row["text"]}
        fields |= {"title": row["title"]} if row.get("title") else {}
    return json.dumps(fields, ensure_ascii=False)


def _rows(path: Path, remote: str) -> Iterator[Mapping[str, Any]]:
    """Yield the rows, some thousand in memory at a time."""
    if not remote.endswith(".parquet"):
        yield from (row for _, row in objects(path))
        return
    require("parquet", f"{remote}, a set in Parquet,")
    import pyarrow
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(path.resolve()) as file:
            for batch in file.iter_batches(batch_size=1024):
                yield from batch.to_pylist()
    except (pyarrow.ArrowException, OSError) as error:
        raise UnreadableError(f"{remote} can't be read", "Parquet", str(error)) from None
