"""An encoder in a folder of this machine: `path:DIR`, as sentence-transformers saves one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from recallbench.corpora.labelled_sets.set_name import folder_word
from recallbench.embedding.encoders import PinnedFiles
from recallbench.embedding.forms.form import EncoderForm, EncoderRequest
from recallbench.embedding.forms.model_facts import FURTHER, model_facts
from recallbench.embedding.forms.model_settings import ModelSettings
from recallbench.embedding.forms.model_source import ModelSource, model_status, open_model
from recallbench.embedding.memo import Memo
from recallbench.embedding.text_encoder import TextEncoder
from recallbench.embedding.weights import remembered_sha256
from recallbench.errors import InputError, RecallBenchError, UsageError

EXAMPLE = "--embedder path:models/my-model"
UNPINNED = "no: a folder of one machine, known by the hashes of its files"
_UNREAD = (".md", ".onnx", ".h5", ".ot", ".msgpack", ".gitattributes")
"""Endings of files that no weights, settings or words of a tokenizer are read from here."""


_BESIDE = (".", "onnx", "openvino", "checkpoint")
"""Beginnings of folders beside the modules'."""


class FolderSource(ModelSource):
    """A folder of this machine; its files are hashed when they are first used, and when they change."""

    pinned = UNPINNED

    def __init__(self, folder: Path, memo: Memo) -> None:
        self.name = recorded(f"path:{folder}")
        self._folder = folder
        self._memo = memo

    def find(self, file: str) -> Path | None:
        return path if (path := self._folder / file).is_file() else None

    def has(self, file: str) -> bool:
        return self.find(file) is not None

    def files(self, names: Sequence[str]) -> PinnedFiles:
        try:
            hashes = {name: remembered_sha256(self._folder / name, self._memo) for name in names}
        except OSError as error:
            raise InputError(
                f"a file of {self.name} can't be read: {error.filename}", found=error.strerror or str(error)
            ) from error
        return PinnedFiles(self.name, "unpinned", hashes, folder=str(self._folder))

    def everything(self, settings: ModelSettings) -> Sequence[str]:
        files = (path.relative_to(self._folder) for path in sorted(self._folder.rglob("*")) if path.is_file())
        return [str(file) for file in files if not file.parts[0].startswith(_BESIDE) and file.suffix not in _UNREAD]


def recorded(name: str) -> str:
    """Return the name without the folders of one machine."""
    folder = name.partition(":")[2]
    if not folder.strip():
        raise UsageError("path: names no folder", expected=EXAMPLE, found=name)
    return f"path:{folder_word(Path(folder).expanduser().absolute().name or 'root')}"


def _source(request: EncoderRequest) -> FolderSource:
    folder = Path(request.place).expanduser()
    if not folder.is_dir():
        found = "a file" if folder.exists() else "nothing there"
        raise UsageError(
            f"there is no folder {folder}", expected=EXAMPLE, found=found, remedy="name the model's folder"
        )
    return FolderSource(folder.absolute(), request.memo)


def _open(request: EncoderRequest) -> TextEncoder[Any]:
    return open_model(_source(request), request)


def _status(request: EncoderRequest) -> tuple[bool, str, str]:
    try:
        source = _source(request)
    except RecallBenchError as error:
        return False, error.brief, error.remedy
    return model_status(source, request)


PATH = EncoderForm(
    typed="path:DIR",
    summary="a folder that sentence-transformers saved: its pooling, normalisation, prompts and length are used",
    recorded=recorded,
    open=_open,
    status=_status,
    facts=model_facts(r"path:[\w.+-]+", r"path:[\w.+-]+@unpinned", "no: .+"),
    further=FURTHER,
    takes_length=True,
    takes_dtype=True,
)
