"""Where registered corpora are published, and how a body is got from there (clarification 16)."""

from __future__ import annotations

import errno
import http.client
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recallbench.corpora.stream import sha256_of
from recallbench.errors import Blocked
from recallbench.progress import Advance, Progress
from recallbench.protocol.rules import CorpusRules

if TYPE_CHECKING:
    from urllib.response import addinfourl

LOCOMO_URL = "RECALLBENCH_LOCOMO_URL"
"""The environment variable that names another address of LoCoMo's file, such as a mirror."""

LOCAL_FAULTS = frozenset(
    {errno.ENOSPC, errno.EFBIG, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOTDIR, errno.EEXIST}
)
"""What an OSError says when this machine, not the source, is at fault."""

_TIMEOUT = 30.0
_CHUNK = 1 << 18

Download = Callable[[CorpusRules, Path, Mapping[str, str], Progress], Path]
"""Gets the body of a corpus file into a scratch folder, unchecked; raises Blocked where the source can't be reached."""


def from_hub(rules: CorpusRules, scratch: Path, environ: Mapping[str, str], progress: Progress) -> Path:
    """The file of a hub dataset at its pinned revision, through the hub's own cache."""
    import httpx2  # what huggingface_hub speaks HTTP with, and lets the errors of through
    import huggingface_hub

    # Endpoint, cache and offline switch are passed on: the library reads its environment once, when imported.
    home = Path(environ.get("HF_HOME") or "~/.cache/huggingface").expanduser()
    cache = Path(environ.get("HF_HUB_CACHE") or home / "hub").expanduser()
    endpoint = environ.get("HF_ENDPOINT") or None
    cached = huggingface_hub.try_to_load_from_cache(
        rules.source, rules.file, cache_dir=cache, revision=rules.revision, repo_type="dataset"
    )
    if not isinstance(cached, str):
        source = f"dataset {rules.source} of the hub"
        if _offline(environ):
            raise _unreachable(rules, source, environ, "not in the hub's cache, and HF_HUB_OFFLINE is set")
        try:
            # Asked first, since this gives up at once where there is no network: the download tries for half a minute.
            url = huggingface_hub.hf_hub_url(
                rules.source, rules.file, repo_type="dataset", revision=rules.revision, endpoint=endpoint
            )
            size = huggingface_hub.get_hf_file_metadata(url, timeout=_TIMEOUT, endpoint=endpoint).size
            with progress.stage(f"fetching {rules.file}", size, "B") as advance:
                cached = huggingface_hub.hf_hub_download(
                    rules.source,
                    rules.file,
                    repo_type="dataset",
                    revision=rules.revision,
                    endpoint=endpoint,
                    cache_dir=cache,
                    tqdm_class=_bar(advance),
                )
        except (OSError, httpx2.HTTPError) as error:
            if getattr(error, "errno", None) in LOCAL_FAULTS:
                raise Blocked(
                    f"{cache}: can't be written",
                    expected=f"a hub cache with room for {rules.file}",
                    found=getattr(error, "strerror", None) or str(error),
                    remedy="free space or permissions there, or name another folder in HF_HOME",
                ) from None
            raise _unreachable(rules, source, environ, str(error)) from None
    return _leave_cache(Path(cached), scratch / "body", rules)


def from_github(rules: CorpusRules, scratch: Path, environ: Mapping[str, str], progress: Progress) -> Path:
    """The raw file of a GitHub repository. No revision is known for LoCoMo's: its sha256 alone pins it."""
    import urllib.request

    default = f"https://raw.githubusercontent.com/{rules.source}/{rules.revision or 'main'}/data/{rules.file}"
    url = environ.get(LOCOMO_URL) or default
    if _offline(environ):
        raise _unreachable(rules, url, environ, "HF_HUB_OFFLINE is set")
    try:
        reply = urllib.request.urlopen(url, timeout=_TIMEOUT)
    except (OSError, ValueError, http.client.HTTPException) as error:
        raise _unreachable(rules, url, environ, str(error)) from None
    promised = int(reply.headers["Content-Length"] or 0)
    done = 0
    stage = progress.stage(f"fetching {rules.file}", promised or None, "B")
    with reply, stage as advance, (scratch / "body").open("wb") as body:
        for chunk in _chunks(reply, rules, url, environ):
            body.write(chunk)
            done += len(chunk)
            advance(len(chunk))
    if promised and done != promised:
        raise _unreachable(rules, url, environ, f"the connection ended after {done} of {promised} bytes")
    return scratch / "body"


SOURCES: Mapping[str, Download] = {"longmemeval": from_hub, "locomo": from_github}
"""The source of each corpus that is downloaded."""


def _chunks(reply: addinfourl, rules: CorpusRules, url: str, environ: Mapping[str, str]) -> Iterator[bytes]:
    while True:
        try:
            chunk = reply.read(_CHUNK)
        except (OSError, http.client.HTTPException) as error:
            raise _unreachable(rules, url, environ, str(error)) from None
        if not chunk:
            return
        yield chunk


def _leave_cache(cached: Path, body: Path, rules: CorpusRules) -> Path:
    """The cached blob under another name, at no cost in space where the file system allows it."""

    blob = cached.resolve()
    if sha256_of(blob) != rules.sha256:
        # Left where it is, the hub's cache would hand out the same wrong body for ever.
        shutil.move(blob, body)
        cached.unlink(missing_ok=True)
        return body
    try:
        os.link(blob, body)
    except OSError:
        shutil.copyfile(blob, body)
    return body


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


def _offline(environ: Mapping[str, str]) -> bool:
    return environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "ON", "YES", "TRUE")


def _unreachable(rules: CorpusRules, source: str, environ: Mapping[str, str], reason: str) -> Blocked:
    remedy = f"check the network, then `recallbench fetch {rules.name}`"
    if _offline(environ):
        remedy = f"unset HF_HUB_OFFLINE, then `recallbench fetch {rules.name}`"
    elif environ.get("HF_ENDPOINT") and rules.name == "longmemeval":
        remedy += f" (HF_ENDPOINT is {environ['HF_ENDPOINT']})"
    return Blocked(
        f"{rules.file} can't be fetched from {source}",
        expected=f"the file with sha256 {rules.sha256}",
        found=" ".join(reason.split()) or "no answer",
        remedy=f"{remedy}; or get the file by other means and name its folder in {rules.variable}",
    )
