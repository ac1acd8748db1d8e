"""Files of the Hugging Face hub at a pinned revision: one way to its cache, its endpoint and its offline switch."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from recallbench.progress import Advance, Progress

RepoType = Literal["model", "dataset"]
_TIMEOUT = 30.0


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
    """The file in the hub's local cache, if it is there."""
    from huggingface_hub import try_to_load_from_cache

    found = try_to_load_from_cache(repo, file, cache_dir=cache_folder(environ), revision=revision, repo_type=repo_type)
    return Path(found) if isinstance(found, str) else None


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
    """The file through the hub's cache (`again`: past it). Raises Unreachable or Missing; checks no hash."""
    if not again and (cached := cached_file(repo, file, revision, environ, repo_type=repo_type)):
        return cached
    if is_offline(environ):
        raise Unreachable("HF_HUB_OFFLINE is set, and the file is not in the cache")
    import httpx2  # what huggingface_hub speaks HTTP with, and lets the errors of through
    from huggingface_hub import get_hf_file_metadata, hf_hub_download, hf_hub_url
    from huggingface_hub.errors import EntryNotFoundError

    # The library reads its environment once, when imported; what was given here is passed on instead.
    endpoint, token = environ.get("HF_ENDPOINT") or None, environ.get("HF_TOKEN") or False
    try:
        # Asked first, since this gives up at once where there is no network: the download tries for half a minute.
        url = hf_hub_url(repo, file, repo_type=repo_type, revision=revision, endpoint=endpoint)
        size = get_hf_file_metadata(url, timeout=_TIMEOUT, endpoint=endpoint, token=token).size
        with progress.stage(f"fetching {file}", size, "B") as advance:
            path = hf_hub_download(
                repo,
                file,
                repo_type=repo_type,
                revision=revision,
                cache_dir=cache_folder(environ),
                endpoint=endpoint,
                token=token,
                force_download=again,
                tqdm_class=_bar(advance),
            )
    except EntryNotFoundError as error:
        raise Missing(str(error)) from error
    except (httpx2.HTTPError, OSError) as error:
        raise Unreachable(str(error) or type(error).__name__, getattr(error, "errno", None)) from error
    return Path(path)


def is_offline(environ: Mapping[str, str]) -> bool:
    """The user forbids the network, in the hub's own words."""
    return environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "ON", "YES", "TRUE")


def cache_folder(environ: Mapping[str, str]) -> Path:
    """Where the hub's library keeps files, by the variables that it goes by."""
    if cache := environ.get("HF_HUB_CACHE"):
        return Path(cache).expanduser()
    shared = Path(environ.get("XDG_CACHE_HOME") or "~/.cache") / "huggingface"
    return (Path(environ.get("HF_HOME") or shared) / "hub").expanduser()


def _bar(advance: Advance) -> Any:
    """The hub's progress bar, drawing nothing and telling ours."""
    from huggingface_hub.utils.tqdm import tqdm

    class Bar(tqdm):  # type: ignore[misc,unused-ignore]
        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **{**options, "disable": True})  # type: ignore[no-untyped-call]

        def update(self, n: float | None = 1) -> bool | None:
            advance(int(n or 0))
            return None

    return Bar
