"""Files of the Hugging Face hub at a pinned revision: one way to its cache, its endpoint and its offline switch."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

from recallbench.confidential import remember_logins, remember_secrets, sanitised
from recallbench.downloading import download_client
from recallbench.errors import InputError, UsageError
from recallbench.hub_leftovers import sweep_downloads
from recallbench.progress import Advance, Progress
from recallbench.waiting import TooSlow, download_pace, limit_waiting

if TYPE_CHECKING:
    import httpx2

RepoType = Literal["model", "dataset"]
LARGEST = 32 << 30
"""The largest file whose size is not announced: no weights and no corpus that are used here come near."""
_TIMEOUT = 30.0
_COMMIT = re.compile(r"[0-9a-f]{40}")
_TAG = re.compile(r'(?:W/)?"?[A-Za-z0-9][A-Za-z0-9._:+=-]{0,127}"?')
"""An ETag that can be a file's name: the hub's own are hashes."""

_requested_revision: ContextVar[str] = ContextVar("revision that is asked for", default="")


class Unreachable(Exception):
    """The hub did not give the file; `fault` is the error number where this machine itself was the reason."""

    def __init__(self, reason: str, fault: int | None = None) -> None:
        super().__init__(" ".join(reason.split()) or "no answer")
        self.fault = fault


class Missing(Unreachable):
    """The hub was asked, and has no such file."""


def cached_file(
    repo: str, file: str, revision: str, environ: Mapping[str, str], *, repo_type: RepoType = "model"
) -> Path | None:
    """The file in the hub's local cache, if it is there. Raises InputError where its name leads out of the cache."""
    from huggingface_hub import try_to_load_from_cache

    path = try_to_load_from_cache(repo, file, cache_dir=cache_folder(environ), revision=revision, repo_type=repo_type)
    if not isinstance(path, str):
        return None
    _path_inside(Path(path), environ)
    return Path(path)


def download(
    repo: str,
    file: str,
    revision: str,
    environ: Mapping[str, str],
    progress: Progress,
    *,
    repo_type: RepoType = "model",
    again: bool = False,
) -> Path:
    """The file through the hub's cache (`again`: past it). Checks no hash.

    Raises Unreachable or Missing, and InputError for an answer or a cache that would make files outside of the cache.
    """
    if not again and (cached := cached_file(repo, file, revision, environ, repo_type=repo_type)):
        return cached
    if is_offline(environ):
        raise Unreachable("HF_HUB_OFFLINE is set, and the file is not in the cache")
    from huggingface_hub import get_hf_file_metadata, hf_hub_download, hf_hub_url

    _refuse_links(repo, repo_type, environ)
    sweep_downloads(cache_folder(environ), _folder_name(repo, repo_type))
    with _connected(revision, environ) as access:
        # Asked first, since this gives up at once where there is no network: the download tries for half a minute.
        url = hf_hub_url(repo, file, repo_type=repo_type, revision=revision, endpoint=access["endpoint"])
        size = get_hf_file_metadata(url, timeout=_TIMEOUT, **access).size
        with progress.stage(f"fetching {file}", size, "B") as advance:
            path = hf_hub_download(
                repo,
                file,
                repo_type=repo_type,
                revision=revision,
                cache_dir=cache_folder(environ),
                force_download=again,
                tqdm_class=_bar(advance, file, LARGEST if size is None else size),
                **access,
            )
    _path_inside(Path(path), environ)
    return Path(path)


def exists(repo: str, file: str, revision: str, environ: Mapping[str, str]) -> bool:
    """Return whether a model has a file; raises Unreachable where the hub can't be asked."""
    if is_offline(environ):
        raise Unreachable("HF_HUB_OFFLINE is set, and the file is not in the cache")
    from huggingface_hub import get_hf_file_metadata, hf_hub_url

    try:
        with _connected(revision, environ) as access:
            url = hf_hub_url(repo, file, revision=revision, endpoint=access["endpoint"])
            get_hf_file_metadata(url, timeout=_TIMEOUT, **access)
    except Missing:
        return False
    return True


def dataset_files(repo: str, revision: str, environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the names of all files of a dataset at a commit; raises Unreachable or Missing."""
    if is_offline(environ):
        raise Unreachable("HF_HUB_OFFLINE is set, and what the dataset holds is not kept")
    from huggingface_hub import HfApi

    with _connected(revision, environ) as access:
        info = HfApi(**access).dataset_info(repo, revision=revision, timeout=_TIMEOUT)
    return tuple(file.rfilename for file in info.siblings or ())


def forget(cached: Path, environ: Mapping[str, str]) -> None:
    """Remove a file from the cache: left there, a wrong body would be handed out for ever."""
    blob = _path_inside(cached, environ)
    cached.unlink(missing_ok=True)
    blob.unlink(missing_ok=True)


def is_offline(environ: Mapping[str, str]) -> bool:
    """The user forbids the network, in the hub's own words."""
    return environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "ON", "YES", "TRUE")


def offline(environ: Mapping[str, str]) -> dict[str, str]:
    """Return an environment in which the user forbids the network."""
    return {**environ, "HF_HUB_OFFLINE": "1"}


def cache_folder(environ: Mapping[str, str]) -> Path:
    """Return the folder of the hub's library, by the variables that it goes by."""
    if cache := environ.get("HF_HUB_CACHE"):
        return Path(cache).expanduser()
    shared = Path(environ.get("XDG_CACHE_HOME") or "~/.cache") / "huggingface"
    return (Path(environ.get("HF_HOME") or shared) / "hub").expanduser()


def _path_inside(path: Path, environ: Mapping[str, str]) -> Path:
    """Return the file itself, behind all links; raises InputError where it does not lie in the cache."""
    folder, real = cache_folder(environ).resolve(), path
    try:
        real = path.resolve()
        if real.is_relative_to(folder):
            return real
    except (OSError, RuntimeError):  # links that go round in a circle
        pass
    raise _leads_out(path, folder, f"a link to {real}")


def _leads_out(path: Path, folder: Path, found: str) -> InputError:
    return InputError(
        f"{path} leads out of the hub's cache, so it is not used",
        expected=f"a file below {folder}",
        found=found,
        remedy="remove that link, then run again: the file is fetched anew",
    )


def _refuse_links(repo: str, repo_type: RepoType, environ: Mapping[str, str]) -> None:
    """Raise InputError where a link in the repository's part of the cache would have a download write elsewhere."""
    folder, name = cache_folder(environ), _folder_name(repo, repo_type)
    for top in (folder / name, folder / ".locks", folder / ".locks" / name, folder / "CACHEDIR.TAG"):
        if top.is_symlink():
            _path_inside(top, environ)
        for path in () if top.name == ".locks" or not top.is_dir() else top.rglob("*"):
            if path.is_symlink():
                _path_inside(path, environ)
            elif path.suffix == ".lock" and path.stat().st_nlink > 1:
                # Emptied when it is locked, and so would be whatever else it is.
                raise _leads_out(path, folder, "a file that has another name elsewhere")


def _folder_name(repo: str, repo_type: RepoType) -> str:
    return f"{repo_type}s--{repo.replace('/', '--')}"


def _endpoint(environ: Mapping[str, str]) -> str | None:
    url = environ.get("HF_ENDPOINT")
    if not url:
        return None
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        usable = False
    if not usable or not url.isprintable() or " " in url:
        raise UsageError(
            "HF_ENDPOINT is no address of a hub",
            expected="such as https://huggingface.co",
            found="something else",
            remedy="name scheme, host and port as there, or unset HF_ENDPOINT",
        )
    return url


@contextmanager
def _connected(revision: str, environ: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """Give endpoint and token of the environment; raises Unreachable or Missing for what the hub's library meets."""
    import httpx2  # what huggingface_hub speaks HTTP with, and lets the errors of through
    from huggingface_hub.errors import EntryNotFoundError

    # The library reads its environment once, when imported; what was given here is passed on instead.
    endpoint, token = _endpoint(environ), environ.get("HF_TOKEN") or False
    remember_secrets(environ.get("HF_TOKEN"))
    remember_logins([endpoint or ""])
    try:
        with _guarded(revision):
            yield {"endpoint": endpoint, "token": token}
    except EntryNotFoundError as error:
        raise Missing(str(error)) from error
    except TooSlow as error:
        raise Unreachable(f"the download is too slow: {error}") from error
    # The library turns headers into numbers and addresses, and takes a proxy of the environment as it stands.
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError, OverflowError, ImportError) as error:
        raise Unreachable(str(error) or type(error).__name__, getattr(error, "errno", None)) from error


@contextmanager
def _guarded(revision: str) -> Iterator[None]:
    """Hold the hub's library to the pace of downloads, and refuse hostile headers, within this block."""
    from huggingface_hub import constants, get_session, set_client_factory

    hooks = get_session().event_hooks
    if _refuse_hostile not in hooks["response"]:
        set_client_factory(partial(_client, hooks["request"]))
    # The hub's other protocol opens connections of its own, which nothing here could watch.
    before, constants.HF_HUB_DISABLE_XET = constants.HF_HUB_DISABLE_XET, True
    token = _requested_revision.set(revision)
    try:
        with limit_waiting(download_pace()):
            yield
    finally:
        _requested_revision.reset(token)
        constants.HF_HUB_DISABLE_XET = before


def _client(request_hooks: list[Callable[..., Any]]) -> httpx2.Client:
    """Return a client for the hub's library that treats each request as the library's own client does."""
    hooks = {"request": request_hooks, "response": [_refuse_hostile]}
    return download_client(follow_redirects=True, timeout=None, event_hooks=hooks)


def _refuse_hostile(response: httpx2.Response) -> None:
    """Raise InputError for a header that the hub's library would make a path of, and that is none."""
    commit, revision = response.headers.get("x-repo-commit"), _requested_revision.get()
    # Where the revision itself is not there, the answer may name another; nothing is kept under it.
    other = response.is_error and response.headers.get("x-error-code", "EntryNotFound") != "EntryNotFound"
    fixed = _COMMIT.fullmatch(revision) and not other
    if commit is not None and (not _COMMIT.fullmatch(commit) or (fixed and commit != revision)):
        expected = f"X-Repo-Commit {revision if fixed else 'of 40 hexadecimal digits'}"
        raise _hostile(response, "X-Repo-Commit", commit, expected)
    for name in ("X-Linked-Etag", "ETag") if response.request.method == "HEAD" else ():
        if (tag := response.headers.get(name)) is not None and not _TAG.fullmatch(tag):
            raise _hostile(response, name, tag, f"{name} of letters and digits, at most 128")


def _hostile(response: httpx2.Response, name: str, value: str, expected: str) -> InputError:
    shown = sanitised(value)
    shown = shown if len(shown) <= 80 else shown[:80] + "…"
    response.close()
    return InputError(
        f"the hub at {response.request.url.host} answers with what can't be a file of its cache",
        expected=expected,
        found=f"{name} {shown!r}",
        remedy="nothing was written; check HF_ENDPOINT and what stands between this machine and the hub",
    )


def _bar(advance: Advance, file: str, largest: int) -> Any:
    """Return a progress bar for the hub that feeds ours; it raises InputError when more comes than was announced."""
    from huggingface_hub.utils.tqdm import tqdm

    class Bar(tqdm):  # type: ignore[misc,unused-ignore]
        def __init__(self, *args: Any, **options: Any) -> None:
            self.received = 0
            super().__init__(*args, **{**options, "disable": True})  # type: ignore[no-untyped-call]

        def update(self, n: float | None = 1) -> bool | None:
            self.received += int(n or 0)
            if self.received > largest:
                raise InputError(
                    f"{file} does not end where it should",
                    expected=f"at most {largest} bytes",
                    found="more than that",
                    remedy="check HF_ENDPOINT and what stands between this machine and the hub",
                )
            advance(int(n or 0))
            return None

    return Bar
