"""Files of the Hugging Face hub at a pinned revision, with the environment passed on and errors put into words."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from recallbench.errors import Blocked
from recallbench.progress import Advance, Progress


def cached_file(repo: str, file: str, revision: str, environ: Mapping[str, str]) -> Path | None:
    """The file in the hub's local cache, if it is there."""
    from huggingface_hub import try_to_load_from_cache

    found = try_to_load_from_cache(repo, file, cache_dir=cache_folder(environ), revision=revision)
    return Path(found) if isinstance(found, str) else None


def download(
    repo: str, file: str, revision: str, environ: Mapping[str, str], progress: Progress, *, wanted_by: str, again: bool
) -> Path:
    """The file from the hub, through its cache (`again`: past it); Blocked if it can't be had."""
    import httpx2  # what huggingface_hub speaks HTTP with, and lets the errors of through
    from huggingface_hub import hf_hub_download
    from huggingface_hub.errors import EntryNotFoundError

    offline = is_offline(environ)
    # The library reads its environment once, when imported; what was given here is passed on instead.
    try:
        with progress.stage(f"fetching {repo}/{file}", None, "B") as advance:
            path = hf_hub_download(
                repo,
                file,
                revision=revision,
                cache_dir=cache_folder(environ),
                endpoint=environ.get("HF_ENDPOINT") or None,
                token=environ.get("HF_TOKEN") or False,
                local_files_only=offline,
                force_download=again,
                tqdm_class=_bar(advance),
            )
    except (httpx2.HTTPError, EntryNotFoundError, OSError) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise Blocked(
            f"the weights of {wanted_by} can't be had: {file} of {repo} at revision {revision}",
            expected=f"the file in {cache_folder(environ)}, or at {environ.get('HF_ENDPOINT') or 'huggingface.co'}",
            found="HF_HUB_OFFLINE is set, and the file is not in the cache" if offline else reason[:300],
            remedy=f"recallbench fetch {wanted_by}"
            + (" with HF_HUB_OFFLINE unset" if offline else " on a machine that reaches the hub")
            + " (the folder named by HF_HOME may be copied from another machine)",
        ) from error
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
