"""Labelled sets of the hub, in BEIR's layout or as a task of several: fetched at a pinned revision, checked by hash."""

from __future__ import annotations

import gzip
import re
import tomllib
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib.resources import files
from pathlib import Path

from recallbench import hub
from recallbench.corpora.labelled_sets.hub_configs import HubConfigs, UnreadableError, convert, find_configs, made_files
from recallbench.corpora.labelled_sets.hub_record import read_record, sets_folder, write_record
from recallbench.corpora.labelled_sets.hub_tasks import HubTask, find_task, tasks_of
from recallbench.corpora.labelled_sets.labelled_records import DOCUMENTS, JUDGEMENTS, QUERIES
from recallbench.corpora.records import HubFiles
from recallbench.corpora.stream import sha256_of
from recallbench.errors import Blocked, InputError, UsageError
from recallbench.progress import Progress
from recallbench.whole_file import drafts_of, write_errors

PREFIX = "hub:"
DEFAULT_SPLIT = "test"
_REPO = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*", re.ASCII)
_REVISION = re.compile(r"[0-9a-f]{40}")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_CHUNK = 1 << 20
UNPACKED_RATIO = 100
"""The most that a packed file may grow by: text packs to a third or a tenth, a bomb to a thousandth."""
UNPACKED_ALWAYS = 64 << 20
"""Bytes that are unpacked whatever the ratio: small files may repeat themselves."""
UNPACKED_LARGEST = 32 << 30
"""Bytes beyond which nothing is unpacked."""


@dataclass(frozen=True, slots=True)
class HubSet:
    """A dataset of the hub at one revision, and the dataset of its judgements."""

    repo: str
    revision: str
    qrels_repo: str = ""
    """Empty where `qrels/` lies in the dataset itself."""
    qrels_revision: str = ""
    task: HubTask | None = None
    """None for a dataset that is one set."""
    configs: HubConfigs | None = None
    """The split of a dataset that has configurations; None for one in BEIR's layout."""

    @property
    def folder(self) -> str:
        apart = f"+{self.qrels_revision}" if self.qrels_revision else ""
        part = self.task.name.replace("/", "+") if self.task else self.configs.split if self.configs else ""
        return f"{self.repo.replace('/', '--')}@{self.revision}{apart}{f'#{part}' if part else ''}"

    def published(self, name: str) -> tuple[str, str, list[str]]:
        """Return where a file of the set is published: dataset, revision, and the names that it may have there."""
        if self.task is not None:
            return self.repo, self.revision, [f"{self.task.folder}/{name}"]
        if self.configs is not None:
            return self.repo, self.revision, list(self.configs.files[name])
        if not name.startswith(JUDGEMENTS):
            return self.repo, self.revision, [f"{name}.gz", name]
        if self.qrels_repo:
            return self.qrels_repo, self.qrels_revision, [Path(name).name]
        return self.repo, self.revision, [name]


@cache
def known_sets() -> dict[str, HubSet]:
    """Return the sets that have a short name here, each at its pinned revision."""
    table = tomllib.loads(
        files("recallbench.corpora.labelled_sets").joinpath("hub_sets.toml").read_text(encoding="utf-8")
    )
    return {name: HubSet(entry["repo"], entry["revision"]) for name, entry in table.items()}


def find_hub_set(name: str, qrels_revision: str | None = None) -> HubSet:
    """Return the set of `hub:OWNER/NAME@<40 hex>` or a short name; raises UsageError for a revision that may move.

    A short name stands for one revision for ever. `#TASK` behind either names a task of a dataset that holds several.
    """
    whole, hash_sign, task = name.partition("#")
    hub_set = _find_dataset(whole, qrels_revision)
    if not hash_sign and not tasks_of(hub_set.repo):
        return hub_set
    if qrels_revision is not None:
        raise UsageError(
            f"{name} has its judgements in itself",
            expected="no --qrels-revision with a task",
            found=f"--qrels-revision {qrels_revision}",
            remedy="leave it out",
        )
    return replace(hub_set, task=find_task(hub_set.repo, task))


def _find_dataset(name: str, qrels_revision: str | None) -> HubSet:
    short = name.removeprefix(PREFIX)
    if "/" not in short and "@" not in short:
        if short in known_sets() and qrels_revision is None:
            return known_sets()[short]
        raise UsageError(
            f"{name} names no set of the hub" if qrels_revision is None else f"{name} has its judgements in itself",
            expected=f"{PREFIX}OWNER/NAME@<revision>, or one of {', '.join(known_sets())}",
            found=name if qrels_revision is None else f"--qrels-revision {qrels_revision}",
            remedy="`recallbench corpora` lists those with a short name",
        )
    repo, at, revision = short.rpartition("@")
    if not at or not _REPO.fullmatch(repo):
        raise UsageError(
            f"{name} names no set of the hub",
            expected=f"{PREFIX}OWNER/NAME@<revision>",
            found=name,
            remedy=f"{PREFIX}{short.partition('@')[0]}@<40 hexadecimal digits>",
        )
    for stated, option in ((revision, "the revision"), (qrels_revision, "--qrels-revision")):
        if stated is not None and not _REVISION.fullmatch(stated):
            raise UsageError(
                f"{name}: {option} pins nothing",
                expected="the whole hash of a commit, 40 hexadecimal digits in lower case",
                found=stated or "none",
                remedy="a branch, a tag or a short hash may mean other files tomorrow; the dataset's page on the hub "
                "lists its commits",
            )
    return HubSet(repo, revision, f"{repo}-qrels" if qrels_revision else "", qrels_revision or "")


def parse_pins(pins: Sequence[str]) -> dict[str, str]:
    """Return the hash of each file that is pinned as `NAME=HEX`."""
    hashes: dict[str, str] = {}
    for pin in pins:
        name, _, sha256 = pin.partition("=")
        if not name or not _SHA256.fullmatch(sha256.lower()) or hashes.get(name, sha256.lower()) != sha256.lower():
            raise UsageError(
                f"--pin {pin} pins no file",
                expected="NAME=<64 hexadecimal digits>, each name once, as corpus.jsonl.gz=…",
                found=pin,
                remedy="sha256sum FILE says the hash of a file",
            )
        hashes[name] = sha256.lower()
    return hashes


def obtain_set(
    hub_set: HubSet, split: str | None, pinned: Mapping[str, str], environ: Mapping[str, str], progress: Progress
) -> Path:
    """Return the folder with the files of the set, those of the split included; what is missing is fetched.

    `split` is None where no judgements are needed. Each file has its hash in the folder's record from its first use on;
    `pinned` are hashes known beforehand, by the name the file has there or on the hub. Raises InputError for a file
    with another hash, Blocked where one can't be had.
    """
    if hub_set.task is not None or hub_set.qrels_repo:
        return _obtain(hub_set, split, pinned, environ, progress)
    chosen = _check_split(split or DEFAULT_SPLIT)
    by_config = replace(hub_set, configs=HubConfigs(chosen, {}))
    folder = sets_folder(environ) / by_config.folder
    kept = read_record(folder)
    if kept is not None and all((folder / name).is_file() for name in made_files(kept.files)):
        by_config = replace(hub_set, configs=HubConfigs(chosen, dict.fromkeys(made_files(kept.files), ())))
        return _obtain(by_config, split, pinned, environ, progress)
    try:
        return _obtain(hub_set, split, pinned, environ, progress)
    except _NoCorpus as error:
        try:
            names = hub.dataset_files(hub_set.repo, hub_set.revision, environ)
        except hub.Unreachable:
            raise error from None
        configs = find_configs(hub_set.repo, names, chosen)
        if configs is None:
            raise
        return _obtain(replace(hub_set, configs=configs), split, pinned, environ, progress)


class _NoCorpus(Blocked):
    """The dataset has no corpus.jsonl: it is in another layout, or none of a set."""


def _obtain(
    hub_set: HubSet, split: str | None, pinned: Mapping[str, str], environ: Mapping[str, str], progress: Progress
) -> Path:
    folder = sets_folder(environ) / hub_set.folder
    known = read_record(folder) or HubFiles(
        hub_set.repo,
        hub_set.revision,
        hub_set.qrels_repo,
        hub_set.qrels_revision,
        {},
        frozenset(),
        hub_set.task.name if hub_set.task else "",
    )
    needed = [DOCUMENTS, QUERIES, *([] if split is None else [f"{JUDGEMENTS}/{_check_split(split)}.tsv"])]
    if hub_set.task is not None:
        needed = list(hub_set.task.files)
    elif hub_set.configs is not None:
        needed = list(hub_set.configs.files)
    record = known
    with write_errors(
        f"{folder}: can't be written",
        expected="a data folder with room for the set",
        remedy="free space or permissions there, or name another folder in RECALLBENCH_DATA_DIR",
        kind=Blocked,
    ):
        with drafts_of(folder) as room:  # none takes its place before all are checked
            for name in needed:
                if name not in record.files or not (folder / name).is_file():
                    record = _fetched(hub_set, name, room, record, pinned, environ, progress)
            _check_pins(record, pinned)
            record = replace(record, pinned=record.pinned.union(pinned))
        if record != known:
            write_record(folder, record)
    return folder


def _fetched(
    hub_set: HubSet,
    name: str,
    room: Path,
    record: HubFiles,
    pinned: Mapping[str, str],
    environ: Mapping[str, str],
    progress: Progress,
) -> HubFiles:
    """Put the file into the folder for unfinished work, and return the record with it."""
    sources = _downloaded(hub_set, name, environ, progress)
    hashes = {remote: sha256_of(cached) for remote, cached in sources.items()}
    # The hub names the large ones by their sha256.
    own = {remote: cached.resolve().name for remote, cached in sources.items()}
    promised = {**{remote: hex for remote, hex in own.items() if _SHA256.fullmatch(hex)}, **record.files, **pinned}

    def check(published_name: str, sha256: str) -> None:
        if promised.get(published_name, sha256) != sha256:
            forget()
            raise _wrong_file(record, published_name, promised[published_name], sha256)

    def forget() -> None:
        for cached in sources.values():
            hub.forget(cached, environ)

    target = room / name
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        if hub_set.configs is not None:
            for remote, sha256 in hashes.items():
                check(remote, sha256)
            convert(name, list(sources.values()), list(sources), target)
        else:
            for remote, cached in sources.items():
                _unpack(cached, remote, target, hub_set.repo)
    except UnreadableError as error:
        forget()
        raise InputError(str(error), expected=error.expected, found=error.found, remedy="run it again") from None
    hashes[name] = sha256_of(target)
    for published_name, sha256 in hashes.items():
        check(published_name, sha256)
    return replace(record, files={**record.files, **hashes})


def _unpack(cached: Path, remote: str, target: Path, repo: str) -> None:
    """Write a published file as it is, or unpacked; raises UnreadableError where it can't be."""
    try:
        with (gzip.open if remote.endswith(".gz") else open)(cached, "rb") as body, target.open("wb") as plain:
            largest = min(UNPACKED_LARGEST, max(UNPACKED_ALWAYS, UNPACKED_RATIO * cached.stat().st_size))
            written = 0
            while chunk := body.read(_CHUNK):
                written += len(chunk)
                if remote.endswith(".gz") and written > largest:
                    raise InputError(
                        f"{remote} of {repo} is too large when unpacked",
                        expected=f"at most {largest >> 20} MiB of text in {cached.stat().st_size} packed bytes",
                        found="more than that",
                        remedy="name another dataset; or unpack it yourself, and evaluate the folder",
                    )
                plain.write(chunk)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise UnreadableError(f"{remote} of {repo} can't be unpacked", "gzip", str(error)) from None


def _downloaded(hub_set: HubSet, name: str, environ: Mapping[str, str], progress: Progress) -> dict[str, Path]:
    """Return the published files that one is made of in the hub's cache, by their names there."""
    repo, revision, remotes = hub_set.published(name)
    fetch = partial(hub.download, environ=environ, progress=progress, repo_type="dataset")
    try:
        if hub_set.configs is not None:
            return {remote: fetch(repo, remote, revision) for remote in remotes}
        for remote in remotes:
            if cached := hub.cached_file(repo, remote, revision, environ, repo_type="dataset"):
                return {remote: cached}
        for remote in remotes[:-1]:
            try:
                return {remote: fetch(repo, remote, revision)}
            except hub.Missing:
                continue
        return {remotes[-1]: fetch(repo, remotes[-1], revision)}
    except hub.Unreachable as error:
        lacking = isinstance(error, hub.Missing) and name == DOCUMENTS and hub_set.task is None
        raise (_NoCorpus if lacking else Blocked)(
            f"{' or '.join(remotes)} of {repo} can't be fetched at {revision}",
            expected="a dataset of the hub in BEIR's layout, at a commit that it has"
            if hub_set.task is None
            else f"the file of the task {hub_set.task.name}, at a commit that has it",
            found=str(error),
            remedy=_remedy(hub_set, name, error, environ),
        ) from None


def _remedy(hub_set: HubSet, name: str, error: hub.Unreachable, environ: Mapping[str, str]) -> str:
    if hub.is_offline(environ):
        return "unset HF_HUB_OFFLINE; once fetched, the set is used without the network"
    if isinstance(error, hub.Missing) and hub_set.task is not None:
        known = [
            f"{PREFIX}{short}#{hub_set.task.name}"
            for short, entry in known_sets().items()
            if entry.repo == hub_set.repo
        ]
        return f"name another commit: {known[0]} stands for one that has it" if known else "name another commit"
    if isinstance(error, hub.Missing) and name.startswith(JUDGEMENTS) and not hub_set.qrels_repo:
        apart = f"where the judgements are a dataset of their own, {hub_set.repo}-qrels, name its commit"
        return f"name another --split; {apart} with --qrels-revision"
    if isinstance(error, hub.Missing):
        return (
            "name a dataset that holds corpus.jsonl and queries.jsonl (.gz), as `recallbench evaluate DIR` reads them"
        )
    return "check the network and the name; or get the files by other means, and evaluate their folder"


def _check_pins(record: HubFiles, pinned: Mapping[str, str]) -> None:
    for name, sha256 in pinned.items():
        if name not in record.files:
            raise UsageError(
                f"--pin pins {name}, which is none of the set's files",
                expected=", ".join(record.files),
                found=name,
                remedy="name one of these",
            )
        if record.files[name] != sha256:
            raise _wrong_file(record, name, sha256, record.files[name])


def _wrong_file(record: HubFiles, name: str, expected: str, found: str) -> InputError:
    return InputError(
        f"{name} of {record.repo} is not the file that is expected",
        expected=f"sha256 {expected}",
        found=f"sha256 {found}",
        remedy="run it again, the file is fetched anew; if it stays so, hash and revision don't belong together",
    )


def _check_split(split: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9][\w.-]*", split, re.ASCII):
        raise UsageError(f"--split {split} is no name", expected="a word, as test or dev", found=split)
    return split
