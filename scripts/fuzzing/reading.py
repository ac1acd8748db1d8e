"""The readers that no command reaches directly, or that need a hand: each takes the changed file."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from fuzzing.trial import run_words
from recallbench.corpora.registry import open_corpus
from recallbench.protocol.frozen import load
from recallbench.results.manifest import NAME, build


def corpus(name: str) -> Callable[[Path], int]:
    """Return what opens the corpus and reads all of it."""

    def read(file: Path) -> int:
        parts = file.parts
        at = parts.index("corpora") + 2
        opened = open_corpus(
            name, rules=load(), environ={}, file=Path(*parts[:at]), allow_dataset_deviation=True, download=False
        )
        for haystack in opened.haystacks():
            assert haystack.segments is not None
        opened.survey()
        return 0

    read.__name__ = f"corpus {name}"
    return read


def manifest_renewed(file: Path) -> None:
    """Let the manifest of the result hold the changed bytes."""
    manifest = file.parent / NAME
    if file != manifest and manifest.is_file():
        manifest.write_text(build(file.parent))


def pack_renewed(file: Path) -> None:
    """Let a pack's header hold its changed manifest and tensors, as whoever makes one to deceive would."""
    from recallbench.embedding.packs.layout import header_of, tensors_of
    from recallbench.embedding.packs.manifest import PackManifest, TensorHashes

    body = file.read_bytes()
    end = 8 + int.from_bytes(body[:8], "little")
    with suppress(ValueError, KeyError, TypeError, RecursionError):
        manifest = PackManifest.model_validate_json(json.loads(body[8:end])["__metadata__"]["recallbench"])
        tensors = tensors_of(manifest.texts, manifest.dims)
        hashes = {tensor.name: sha256(body[end + tensor.start : end + tensor.end]).hexdigest() for tensor in tensors}
        renewed = manifest.model_copy(update={"tensors": TensorHashes(**hashes)})
        file.write_bytes(header_of(renewed) + body[end:])


def attested(file: Path) -> int:
    """Look at the envelope; or at a changed statement, signed by the right key."""
    from securesystemslib.dsse import Envelope

    from recallbench.citing.keys import private_key

    audit = ("audit", "results/canary_bm25", "--require-attestation", "safe/key.pub")
    if file.suffix == ".statement":
        envelope = Envelope(file.read_bytes(), "application/vnd.in-toto+json", {})
        envelope.sign(private_key(Path("safe/key")))
        Path("results/canary_bm25.attestation.json").write_text(json.dumps(envelope.to_dict()))
    return run_words(audit)


def hub_file(file: Path) -> int:
    """Unpack a file as the hub serves it."""
    from recallbench.corpora.labelled_sets.hub_set import UnreadableError, _unpack

    try:
        _unpack(file, file.name, Path("out") / "plain", "team/set")
    except UnreadableError:
        return 2  # whoever asked takes the next form that the hub has
    return 0


def kept_answers(file: Path) -> int:
    """Look a point of a sweep up in the kept answers."""
    from recallbench.studies.sweep.kept import FOLDER, SweepCache

    folder = Path("out") / FOLDER
    cache = SweepCache(Path("out"))
    target = cache._path("ab" * 32)
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(file, target)
    cache.find("ab" * 32)
    return 0 if folder.is_dir() else 1


def vectors(file: Path) -> int:
    """Open a cache of vectors, and read every row."""
    from recallbench.embedding.own_key import Seal
    from recallbench.embedding.vector_cache import VectorCache

    cache = VectorCache(file.parent, 4, Seal(b"k" * 32, "a" * 64))
    rows = [row for number in range(8) if (row := cache.row(bytes([number]) * 32)) is not None]
    cache.vectors(rows)
    cache.tokens(rows)
    assert isinstance(cache.computed_with, tuple)
    cache.close()
    return 0


class ModelFolder:
    """The files of a model in a folder, as the reader of its settings asks for them."""

    def __init__(self, folder: Path) -> None:
        self.name, self.pinned, self._folder = f"path:{folder}", "no", folder

    def find(self, file: str) -> Path | None:
        """Return a file by its name in the model."""
        return self._folder / file if self.has(file) else None

    def has(self, file: str) -> bool:
        """Whether the model has a file."""
        return (self._folder / file).is_file()


def model_settings(file: Path) -> int:
    """Read what a model's own folder says of it."""
    from recallbench.embedding.forms.model_settings import read_model_settings

    read_model_settings(ModelFolder(Path("model")))
    return 0
