"""An encoder of the hub at one revision: `hub:OWNER/NAME@<40 hex>`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from recallbench import hub
from recallbench.embedding.encoders import PinnedFiles
from recallbench.embedding.forms.form import EncoderForm, EncoderRequest
from recallbench.embedding.forms.model_facts import FURTHER, model_facts
from recallbench.embedding.forms.model_settings import MODULES, ModelSettings, read_model_settings
from recallbench.embedding.forms.model_source import ModelSource, model_status, open_model
from recallbench.embedding.text_encoder import TextEncoder
from recallbench.embedding.weights import FileResolver
from recallbench.errors import Blocked, RecallBenchError, UsageError
from recallbench.reading import document, parsed

TYPED = "hub:OWNER/NAME@REVISION"
PINNED_REVISION = "yes: a public revision, its files hashed when they were first used"
_REPO = r"[\w.-]+/[\w.-]+"
_NAME = re.compile(rf"({_REPO})@([0-9a-f]{{40}})")
_ROOT = (
    *("config.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "vocab.txt", "vocab.json"),
    *("merges.txt", "added_tokens.json", "sentencepiece.bpe.model", "spiece.model", "tokenizer.model"),
    *("modules.json", "config_sentence_transformers.json", "sentence_bert_config.json", "chat_template.jinja"),
    *("preprocessor_config.json", "processor_config.json"),
)
"""Files in which a model says what it is."""
_WEIGHTS = ("model.safetensors", "pytorch_model.bin")
_SHARDS = ("model.safetensors.index.json", "pytorch_model.bin.index.json")


class HubSource(ModelSource):
    """One revision of a repository of the hub."""

    pinned = PINNED_REVISION

    def __init__(self, repo: str, revision: str, request: EncoderRequest) -> None:
        self.name = f"hub:{repo}@{revision}"
        self._repo, self._revision, self._request = repo, revision, request

    def find(self, file: str) -> Path | None:
        if not self.has(file):
            return None
        with self._reached(file):
            return hub.download(self._repo, file, self._revision, self._request.environ, self._request.progress)

    def has(self, file: str) -> bool:
        request = self._request
        if hub.cached_file(self._repo, file, self._revision, request.environ):
            return True
        # A revision never changes, so that nobody need ask twice.
        key = {"what": "file of the hub", "repo": self._repo, "revision": self._revision, "file": file}
        if fact := request.memo.recall(key):
            return bool(fact["there"])
        with self._reached(file):
            there = hub.exists(self._repo, file, self._revision, request.environ)
        request.memo.remember(key, {"there": there})
        return there

    @contextmanager
    def _reached(self, file: str) -> Iterator[None]:
        try:
            yield
        except hub.Unreachable as error:
            raise Blocked(
                f"{self.name} can't be had: {file}",
                expected=f"the file in {hub.cache_folder(self._request.environ)}, or at the hub",
                found=str(error)[:300],
                remedy=f"recallbench fetch {self.name}, on a machine that reaches the hub",
            ) from error

    def files(self, names: Sequence[str]) -> PinnedFiles:
        return PinnedFiles(self._repo, self._revision, dict.fromkeys(names, ""))

    def everything(self, settings: ModelSettings) -> Sequence[str]:
        names = list(_ROOT)
        for folder in _folders(self):
            weights = [f"{folder}{file}" for file in _WEIGHTS]
            names += [f"{folder}{file}" for file in ("config.json", "sentence_bert_config.json", "tokenizer.json")]
            # Of weights in two formats the first is read.
            names += next(([file] for file in weights if self.has(file)), [])
            for index in (f"{folder}{file}" for file in _SHARDS):
                names += [index, *(f"{folder}{file}" for file in _shards(self.find(index)))]
        return [name for name in dict.fromkeys(names) if self.has(name)]


def _folders(source: HubSource) -> list[str]:
    """Return the folder of each module, with a slash behind it; the root is empty."""
    path = source.find(MODULES)
    if path is None:
        return [""]
    listed = parsed(b'{"modules":' + document(path.resolve()) + b"}", path)["modules"]
    folders = [str(entry.get("path", "")) for entry in listed]
    return ["", *(f"{folder}/" for folder in dict.fromkeys(folders) if folder)]


def _shards(index: Path | None) -> Sequence[str]:
    if index is None:
        return ()
    weights = parsed(document(index.resolve()), index).get("weight_map")
    return sorted(set(weights.values())) if isinstance(weights, Mapping) else ()


def recorded(name: str) -> str:
    """Return the name; raises UsageError for one without a revision that stays what it is."""
    _parsed(name)
    return f"hub:{name.partition(':')[2]}"


def _parsed(name: str) -> tuple[str, str]:
    place = name.partition(":")[2]
    if match := _NAME.fullmatch(place):
        return match[1], match[2]
    repo, _, revision = place.partition("@")
    if not re.fullmatch(_REPO, repo):
        raise UsageError(
            f"{name} names no model of the hub",
            expected=TYPED,
            found=name,
            remedy="`recallbench embedders` lists encoders; `recallbench evaluate` fetches a set of the hub itself",
        )
    raise UsageError(
        f"{name} is pinned to no revision, so it could be another model tomorrow",
        expected=f"hub:{repo}@ and the 40 hexadecimal digits of a commit",
        found=f"the revision {revision}" if revision else "no revision",
        remedy=f"take the commit from huggingface.co/{repo}/commits/main, then: --embedder hub:{repo}@COMMIT",
    )


def _open(request: EncoderRequest) -> TextEncoder[Any]:
    return open_model(HubSource(*_parsed(request.name), request), request)


def fetch_model(request: EncoderRequest) -> tuple[Path, ...]:
    """Bring every file of a model that is read onto this machine, and hash it."""
    source = HubSource(*_parsed(request.name), request)
    settings = read_model_settings(source)
    resolver = FileResolver(source.name, request.environ, request.cache_dir, request.progress)
    return tuple(resolver.verified_paths(source.files(source.everything(settings)), repair=True).values())


def _status(request: EncoderRequest) -> tuple[bool, str, str]:
    try:
        repo, revision = _parsed(request.name)
        source = HubSource(repo, revision, request)
        there = hub.cached_file(repo, "config.json", revision, request.environ)
    except RecallBenchError as error:
        return False, error.brief, error.remedy
    if there is None:
        return False, f"{source.name} is not on this machine", f"recallbench fetch {source.name}"
    return model_status(source, request)


HUB = EncoderForm(
    typed=TYPED,
    summary="a model of the hub at one revision, treated like a folder",
    recorded=recorded,
    open=_open,
    status=_status,
    facts=model_facts(rf"hub:{_REPO}@[0-9a-f]{{40}}", rf"{_REPO}@[0-9a-f]{{40}}", "yes: .+"),
    further=FURTHER,
    takes_length=True,
    takes_dtype=True,
)
