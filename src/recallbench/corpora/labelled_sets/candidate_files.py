"""The files of a set whose queries have candidates: queries and judgements by subset, as LMEB has them on the hub.

Beside each `queries.jsonl` lies its `qrels.tsv`. The `corpus.jsonl` and `candidates.jsonl` of a subset are the nearest
ones: in its folder, or in one above it. Without `candidates.jsonl` a query may be answered from the whole corpus.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from recallbench.corpora.field_reader import FieldReader, describe
from recallbench.corpora.labelled_sets.judgement_file import line_of, read_judgements
from recallbench.corpora.labelled_sets.labelled_records import (
    DOCUMENTS,
    EVERYWHERE,
    JUDGEMENTS,
    KIND,
    QUERIES,
    SHORT,
    Document,
    Files,
    LabelledQuery,
    PassedOver,
    SubsetCounts,
)
from recallbench.errors import InputError
from recallbench.reading import objects

CANDIDATES, QRELS = "candidates.jsonl", "qrels.tsv"
ROOT = "."
"""The one subset of a set whose queries lie beside its corpus."""
SCENE_WORDS = 2
"""The words of a query's id, parted by `_`, that name its scene where the whole id names none."""


@dataclass(frozen=True, slots=True)
class CandidatePool:
    """Documents of one corpus file that queries may be answered from: all of them, or those with these ids."""

    scope: str
    documents: str
    ids: frozenset[str] | None


def find_subsets(folder: Path) -> tuple[str, ...]:
    """Return the folders with queries of a set with candidates, in order of their names; none for any other set."""
    if (folder / SHORT).exists() or (folder / JUDGEMENTS).exists():
        return ()
    found = (path.parent for depth in ("", "*/", "*/*/") for path in folder.glob(f"{depth}{QRELS}"))
    return tuple(sorted(path.relative_to(folder).as_posix() for path in found))


def files_of(folder: Path, subsets: tuple[str, ...], *, published: bool) -> Files:
    """Return the files of these subsets; raises InputError where one is missing."""
    parts: dict[str, Path] = {}
    for subset in subsets:
        for name in (QUERIES, DOCUMENTS, CANDIDATES, QRELS):
            places = [PurePosixPath(subset)] if name in (QUERIES, QRELS) else _upwards(subset)
            found = next((place / name for place in places if (folder / place / name).is_file()), None)
            if found is not None:
                parts[found.as_posix()] = folder / found
            elif name != CANDIDATES:
                raise InputError(
                    f"{folder}: {name} of {subset} is missing",
                    expected=f"{' or '.join((place / name).as_posix() for place in places)}",
                    found="no such file",
                    remedy=f"put it there, or remove {PurePosixPath(subset) / QRELS}, which makes that folder a subset",
                )
    return Files(parts, subsets=subsets, published=published)


def read_documents(files: Files, corpus: str, passed: PassedOver) -> Iterator[Document]:
    """Return the documents of each scope that a query has, in the order of their file; noted in `passed`: the counts.

    Texts are held once, whatever the number of scopes that a document is in. Raises InputError for candidates of which
    none names a document; in a set that is not of the hub for each that names none.
    """
    by_file: dict[str, dict[str, CandidatePool]] = {}
    for subset in files.subsets:
        for pool in _Scenes(files, corpus, subset).pools.values():
            by_file.setdefault(pool.documents, {})[pool.scope] = pool
    for name, pools in by_file.items():
        documents = _read_corpus(files.parts[name], name, corpus)
        for subset in files.subsets:
            if _nearest(files, subset, DOCUMENTS) == name:
                counts = passed.subsets.get(subset, SubsetCounts(0, 0, 0))
                passed.subsets[subset] = counts._replace(documents=len(documents))
        for pool in pools.values():
            ids = documents.keys() if pool.ids is None else pool.ids & documents.keys()
            if pool.ids is not None:
                unknown = pool.ids - documents.keys()
                passed.candidates += len(unknown)
                if unknown and (not ids or not files.published):
                    count = f"{len(unknown)} of the" if ids else "none of the"
                    verb = "name no document" if ids else "is a document"
                    raise InputError(
                        f"{CANDIDATES} of {corpus}: {count} candidates of {pool.scope} {verb}",
                        expected=f"ids of {name}, such as {next(iter(documents))}",
                        found=f"{len(unknown)} others, such as {min(unknown)}",
                        remedy="take corpus and candidates of one version, or mend the list",
                    )
            # In the order of their file: that of the candidates may begin with those that answer.
            yield from (replace(document, scope=pool.scope) for id, document in documents.items() if id in ids)


def read_labels(files: Files, corpus: str, passed: PassedOver) -> Iterator[LabelledQuery]:
    """Return each query that is judged, its kind the subset; raises InputError for judgements of no query."""
    for subset in files.subsets:
        scenes = _Scenes(files, corpus, subset)
        name = (PurePosixPath(subset) / QRELS).as_posix()
        judged = read_judgements(files.parts[name], corpus, name)
        unknown = next((id for id in judged if id not in scenes.queries), None)
        if unknown is not None:
            raise InputError(
                f"{name}: line {line_of(files.parts[name], unknown)}: judges {unknown}",
                expected=f"a query of {scenes.name}",
                found="no query of that id",
                remedy="add the query, or take its judgements out",
            )
        counts = passed.subsets.get(subset, SubsetCounts(0, 0, 0))
        passed.subsets[subset] = counts._replace(queries=len(scenes.queries), judgements=sum(map(len, judged.values())))
        for id, (text, reader) in scenes.queries.items():
            own = id if subset == ROOT else f"{subset}/{id}"
            if id not in judged:
                passed.unjudged.append(own)
                continue
            if scenes.has_lists and id not in scenes.scene_of:
                passed.unlisted.append(own)
            scope = scenes.pools[scenes.scene_of.get(id)].scope
            kind = KIND if subset == ROOT else subset
            yield LabelledQuery(own, scope, "", kind, text, judged[id], None, None, reader)


class _Scenes:
    """The queries of a subset, and the scene of each: its candidates go by that name."""

    def __init__(self, files: Files, corpus: str, subset: str) -> None:
        self.name = (PurePosixPath(subset) / QUERIES).as_posix()
        self.queries: dict[str, tuple[str, FieldReader]] = {}
        for number, record in objects(files.parts[self.name]):
            reader = FieldReader(corpus, self.name, f"line {number}")
            id = reader.identifier(record, "id")
            if id in self.queries:
                raise reader.refusal("id", "an id that no other query has", f"{id} again")
            self.queries[id] = (reader.text(record, "text"), replace(reader, item=f"query {id} (line {number})"))
        documents = _nearest(files, subset, DOCUMENTS)
        lists = _nearest(files, subset, CANDIDATES, lacking="")
        self.has_lists = bool(lists)
        wanted = {scene for id in self.queries for scene in (id, _scene(id))}
        pools = _read_pools(files.parts[lists], lists, corpus, documents, wanted) if lists else {}
        named = {id: next((scene for scene in (id, _scene(id)) if scene in pools), None) for id in self.queries}
        self.scene_of: dict[str, str] = {id: scene for id, scene in named.items() if scene is not None}
        self.pools: dict[str | None, CandidatePool] = {scene: pools[scene] for scene in self.scene_of.values()}
        if len(self.scene_of) < len(self.queries):
            folder = PurePosixPath(documents).parent.as_posix()
            self.pools[None] = CandidatePool(EVERYWHERE if folder == ROOT else folder, documents, None)


def _read_pools(path: Path, name: str, corpus: str, documents: str, wanted: set[str]) -> dict[str, CandidatePool]:
    """Return the pools of the wanted scenes. Scenes with the same candidates share the pool of the first of them."""
    folder = PurePosixPath(name).parent.as_posix()
    first: dict[bytes, str] = {}
    kept: dict[str, CandidatePool] = {}
    pools: dict[str, CandidatePool] = {}
    seen: set[str] = set()
    for number, record in objects(path):
        reader = FieldReader(corpus, name, f"line {number}")
        scene = reader.identifier(record, "scene_id")
        if scene in seen:
            raise reader.refusal("scene_id", "a scene that no other line has", f"{scene} again")
        seen.add(scene)
        ids = frozenset(reader.words(record, "candidate_doc_ids"))
        if not ids:
            raise reader.refusal("candidate_doc_ids", "ids of documents", describe([]))
        # Kept by their hash: a long document has hundreds of queries, each with the whole list of its parts.
        digest = hashlib.sha256("\0".join(sorted(ids)).encode()).digest()
        scope = first.setdefault(digest, scene)
        if scene in wanted:
            own = scope if folder == ROOT else f"{folder}/{scope}"
            pools[scene] = kept.setdefault(scope, CandidatePool(own, documents, ids))
    return pools


def _read_corpus(path: Path, name: str, corpus: str) -> Mapping[str, Document]:
    """Return the documents by id; the same one again is passed over, another of its id refused."""
    documents: dict[str, Document] = {}
    for number, record in objects(path):
        reader = FieldReader(corpus, name, f"line {number}")
        id = reader.text(record, "id")
        title = reader.storable("title", str(record.get("title") or ""))
        body = reader.storable("text", reader.string(record, "text"))
        text = "\n".join(part for part in (title, body) if part.strip())
        document = documents.setdefault(id, Document(id, EVERYWHERE, text, None, 0.5))
        if document.text != text:
            raise reader.refusal("id", "each id once", f"{id} again, with another text")
    if not documents:
        raise InputError(f"{path}: no documents", expected="a JSON object per line", found="an empty file")
    return documents


def _nearest(files: Files, subset: str, name: str, lacking: str | None = None) -> str:
    found = (place for folder in _upwards(subset) if (place := (folder / name).as_posix()) in files.parts)
    return next(found) if lacking is None else next(found, lacking)


def _upwards(subset: str) -> list[PurePosixPath]:
    folder = PurePosixPath(subset)
    return [folder, *folder.parents]


def _scene(id: str) -> str:
    return "_".join(id.split("_")[:SCENE_WORDS])
