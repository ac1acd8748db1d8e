"""tantivy as a memory under test: `recallbench run … --store python:examples.tantivy_memory:Memory`.

A full-text engine: BM25 over an inverted index in memory, one for each haystack, with English stems.
`--set analyzer=default` leaves words as they are.
"""

from __future__ import annotations

import re
from importlib.metadata import version

from recallbench.errors import Blocked

INSTALL = "pip install 'recallbench[examples]'"

try:
    import tantivy
except ModuleNotFoundError as error:
    raise Blocked("tantivy is missing", found=str(error), remedy=INSTALL) from error

__version__ = f"tantivy {version('tantivy')}"
WRITER_BYTES = 15_000_000


class Memory:
    """One haystack."""

    def __init__(self, analyzer: str = "en_stem") -> None:
        schema = tantivy.SchemaBuilder().add_integer_field("id", stored=True)
        self._index = tantivy.Index(schema.add_text_field("text", tokenizer_name=analyzer).build())
        # With several threads, which of two equal texts comes first would be a matter of luck.
        self._writer = self._index.writer(WRITER_BYTES, num_threads=1)

    def add(self, ids: list[int], texts: list[str]) -> None:
        for id, text in zip(ids, texts, strict=True):
            self._writer.add_document(tantivy.Document(id=id, text=text))
        self._writer.commit()
        self._index.reload()

    def search(self, query: str, k: int) -> list[tuple[int, float]]:
        # Signs and capitals would be operators to the engine's own language of queries.
        words = " ".join(re.findall(r"\w+", query.lower()))
        searcher = self._index.searcher()
        hits = searcher.search(self._index.parse_query(words, ["text"]), k).hits
        return [(searcher.doc(place)["id"][0], score) for score, place in hits]
