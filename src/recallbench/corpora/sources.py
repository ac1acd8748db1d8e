"""The sources of registered corpora, and how a body is got from there (clarification 16)."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from urllib.parse import quote

from recallbench import hub
from recallbench.confidential import remember_logins
from recallbench.corpora.stream import sha256_of
from recallbench.downloading import download_client
from recallbench.errors import Blocked
from recallbench.progress import Progress
from recallbench.protocol.rules import CorpusRules
from recallbench.waiting import TooSlow, download_pace, limit_waiting

LOCOMO_URL = "RECALLBENCH_LOCOMO_URL"
"""The environment variable that names another address of LoCoMo's file, such as a mirror."""

RAW_FILES = "https://raw.githubusercontent.com"
RAW_FILES_URL = "RECALLBENCH_RAW_FILES_URL"
"""The environment variable that names another address of GitHub's raw files, such as a mirror."""

LOCAL_FAULTS = frozenset(
    {errno.ENOSPC, errno.EFBIG, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOTDIR, errno.EEXIST}
)
"""The errors of an OSError when this machine, not the source, is at fault."""

_TIMEOUT = 30.0
LARGEST = 1 << 30
"""Bytes of a file; none that is registered has more than a few millions."""

Download = Callable[[CorpusRules, Path, Mapping[str, str], Progress], None]
"""Writes a corpus file, unchecked, to the path given; raises Blocked where the source can't be reached."""


def from_hub(rules: CorpusRules, body: Path, environ: Mapping[str, str], progress: Progress) -> None:
    """Write the file of a hub dataset at its pinned revision, through the hub's own cache."""
    source = f"dataset {rules.source} of the hub"
    try:
        cached = hub.download(rules.source, rules.file, rules.revision, environ, progress, repo_type="dataset")
    except hub.Unreachable as error:
        if error.fault in LOCAL_FAULTS:
            raise Blocked(
                f"{hub.cache_folder(environ)}: can't be written",
                expected=f"a hub cache with room for {rules.file}",
                found=str(error),
                remedy="free space or permissions there, or name another folder in HF_HOME",
            ) from error
        raise _unreachable(rules, source, environ, str(error), environ.get("HF_ENDPOINT", "")) from error
    _leave_cache(cached, body, rules)


def from_github(rules: CorpusRules, body: Path, environ: Mapping[str, str], progress: Progress) -> None:
    """Write the raw file of a GitHub repository. No revision is known for LoCoMo's: its sha256 alone pins it."""
    default = f"{RAW_FILES}/{rules.source}/{rules.revision or 'main'}/data/{rules.file}"
    _write_reply(environ.get(LOCOMO_URL) or default, rules, body, environ, progress)


def from_repository(rules: CorpusRules, body: Path, environ: Mapping[str, str], progress: Progress) -> None:
    """Write the raw file of a GitHub repository that has this path at the pinned commit."""
    base = (environ.get(RAW_FILES_URL) or RAW_FILES).rstrip("/")
    _write_reply(f"{base}/{rules.source}/{rules.revision}/{quote(rules.file)}", rules, body, environ, progress)


def _write_reply(url: str, rules: CorpusRules, body: Path, environ: Mapping[str, str], progress: Progress) -> None:
    """Write what an address answers; raises Blocked where it does not answer, or not whole."""
    import httpx2

    if hub.is_offline(environ):
        raise _unreachable(rules, url, environ, "HF_HUB_OFFLINE is set")
    remember_logins([url])
    done, promised = 0, 0
    try:
        with (
            limit_waiting(download_pace()),
            download_client(follow_redirects=True, timeout=_TIMEOUT) as client,
            client.stream("GET", url, headers={"accept-encoding": "identity"}) as reply,
        ):
            if reply.status_code != 200:
                raise _unreachable(rules, url, environ, f"HTTP status {reply.status_code} {reply.reason_phrase}")
            promised = _length(reply.headers.get("content-length"))
            stage = progress.stage(f"fetching {rules.file}", promised or None, "B")
            with stage as advance, body.open("wb") as file:
                # As it comes: what packs itself would be unpacked without end.
                for chunk in reply.iter_raw():
                    done += len(chunk)
                    if done > LARGEST:
                        raise _unreachable(rules, url, environ, f"more than {LARGEST} bytes")
                    file.write(chunk)
                    advance(len(chunk))
    except TooSlow as error:
        raise _unreachable(rules, url, environ, f"the download is too slow: {error}") from None
    # The last two: for an address that is none in a redirection, and for such a proxy in the environment.
    except (httpx2.HTTPError, httpx2.InvalidURL, ValueError, ImportError) as error:
        cut = f"the connection ended after {done} of {promised} bytes" if done else str(error)
        raise _unreachable(rules, url, environ, cut) from None


def _length(stated: str | None) -> int:
    return int(stated) if stated and stated.isdecimal() else 0


def _leave_cache(cached: Path, body: Path, rules: CorpusRules) -> None:
    """Put the cached blob under another name, at no cost in space where the file system allows it."""
    blob = cached.resolve()
    if sha256_of(blob) != rules.sha256:
        # Left where it is, the hub's cache would hand out the same wrong body for ever.
        shutil.move(blob, body)
        cached.unlink(missing_ok=True)
        return
    try:
        os.link(blob, body)
    except OSError:
        shutil.copyfile(blob, body)


def _unreachable(
    rules: CorpusRules, source: str, environ: Mapping[str, str], reason: str, endpoint: str = ""
) -> Blocked:
    remedy = f"check the network, then `recallbench fetch {rules.name}`"
    if hub.is_offline(environ):
        remedy = f"unset HF_HUB_OFFLINE, then `recallbench fetch {rules.name}`"
    elif endpoint:
        remedy += f" (HF_ENDPOINT is {endpoint})"
    return Blocked(
        f"{rules.file} can't be fetched from {source}",
        expected=f"the file with sha256 {rules.sha256}",
        found=" ".join(reason.split()) or "no answer",
        remedy=f"{remedy}; or get the file by other means and name its folder in {rules.variable}",
    )
