"""Audits that held and are kept, so that a site audits only what nobody here has audited yet.

An audit is kept by all that decides it: every byte of the folder, its name, whether dataset and weights are at hand,
this program, and the packages it works figures out with. It is sealed with the user's own key, so that nobody else can
put one there. Only an audit with the dataset at hand and nothing failing is kept; whether git holds the files is looked
at each time.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from recallbench.audit.audit import Audit, audit
from recallbench.audit.decision import decide
from recallbench.audit.folder_state import folder_state
from recallbench.audit.gate import Check
from recallbench.audit.gates import artefacts
from recallbench.embedding.own_key import own_key
from recallbench.embedding.registry import default_cache_dir, encoder_status
from recallbench.errors import RecallBenchError
from recallbench.program_files import program_sha256
from recallbench.progress import Progress
from recallbench.protocol.frozen import load
from recallbench.results.dataset import dataset_at_hand
from recallbench.results.metrics import Metrics
from recallbench.results.result import open_result
from recallbench.retrieval.static_control import ENCODER
from recallbench.whole_file import write_whole

FOLDER = "audits"
"""The folder of kept audits, in that of the vectors."""
_CHECKS = TypeAdapter(tuple[Check, ...])


class KeptAudits:
    """The folder of kept audits; without one, nothing is found and nothing kept."""

    def __init__(self, cache_dir: Path | None) -> None:
        self._folder = None if cache_dir is None else cache_dir / FOLDER
        self._key = b""
        if cache_dir is not None:
            try:
                key, without = own_key(cache_dir)
                self._key = b"" if without else key
            except (RecallBenchError, OSError):
                self._folder = None  # a key that is not to be trusted: every audit is made
        self.reused = 0
        """How many audits had been made before."""

    def takes(self, folder: Path) -> bool:
        """Return whether an audit of this folder can be kept: of plain files alone, and outside the folder."""
        if self._folder is None or not self._key or self._folder.resolve().is_relative_to(folder.resolve()):
            return False
        return all(path.is_file() and not path.is_symlink() for path in folder.iterdir())

    def address(self, folder: Path, state: str, at_hand: str) -> str:
        """Return the address of a folder's audit; empty where none can be kept.

        `state` is that of the folder, `at_hand` what an audit of it finds on this machine.
        """
        if not self.takes(folder):
            return ""
        lines = (_program(), folder.resolve().name, state, at_hand)
        return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogateescape")).hexdigest()

    def find(self, address: str, folder: Path) -> Audit | None:
        """Return the audit that is kept at an address, with git asked anew; None where there is none of the user's."""
        if not address or self._folder is None:
            return None
        try:
            kept = json.loads(self._path(address).read_bytes())
            text = str(kept["audit"])
            if not hmac.compare_digest(str(kept["seal"]), self._seal(address, text)):
                return None
            stated = json.loads(text)
            checks, deviations = _CHECKS.validate_python(stated["checks"]), tuple(map(str, stated["deviations"]))
        except (OSError, ValueError, KeyError, TypeError, RecursionError, ValidationError):
            return None
        self.reused += 1
        return with_git_asked_here(Audit(folder, checks, decide(checks, deviations), deviations), folder)

    def keep(self, address: str, examined: Audit, state: str) -> None:
        """Keep an audit that holds; one of a folder that changed meanwhile, or that lacks anything, is not kept."""
        told = [check for check in examined.checks if check.code != artefacts.GATE.code]
        whole = all(check.status == "pass" or (check.status == "cannot-tell" and not check.needed) for check in told)
        if not address or not whole or folder_state(examined.folder) != state:
            return
        stated = {"checks": _CHECKS.dump_python(examined.checks), "deviations": list(examined.deviations)}
        text = json.dumps(stated)
        document: Mapping[str, str] = {"audit": text, "seal": self._seal(address, text)}
        with suppress(OSError):  # a cache that can't be written to costs time, and nothing else
            write_whole(self._path(address), json.dumps(document))

    def _seal(self, address: str, text: str) -> str:
        return hashlib.blake2b(f"{address}\n{text}".encode(), key=self._key, person=b"audits").hexdigest()

    def _path(self, address: str) -> Path:
        assert self._folder is not None
        return self._folder / address[:2] / f"{address}.json"


def audit_and_keep(
    folder: Path,
    kept: KeptAudits,
    *,
    corpus_files: Sequence[Path],
    environ: Mapping[str, str],
    progress: Progress,
    cache_dir: Path | None,
) -> Audit:
    """Audit a folder as `audit` does, whatever is kept of it, and keep what comes of it.

    Nothing is kept where the folder, the dataset or weights came, went or changed meanwhile.
    """

    found = state_here(folder, kept, corpus_files, environ, cache_dir)
    examined = audit(folder, corpus_files=corpus_files, environ=environ, progress=progress, cache_dir=cache_dir)
    if found[0] and state_here(folder, kept, corpus_files, environ, cache_dir) == found:
        kept.keep(kept.address(folder, *found), examined, found[0])
    return examined


def state_here(
    folder: Path,
    kept: KeptAudits,
    corpus_files: Sequence[Path],
    environ: Mapping[str, str],
    cache_dir: Path | None,
) -> tuple[str, str]:
    """Return the state of a folder, and what an audit of it finds on this machine; empty where none can be kept."""
    try:
        metrics = open_result(folder).metrics
        if not kept.takes(folder):
            return "", ""
        return folder_state(folder), at_hand(metrics, corpus_files, environ, cache_dir)
    except (RecallBenchError, OSError):
        return "", ""  # the audit says what can't be read


def with_git_asked_here(examined: Audit, folder: Path) -> Audit:
    """Return an audit that was made elsewhere or before, with what git says of the folder here and now."""
    checks = tuple(_asked_again(check, folder) for check in examined.checks)
    return replace(examined, folder=folder, checks=checks, verdict=decide(checks, examined.deviations))


def at_hand(metrics: Metrics, corpus_files: Sequence[Path], environ: Mapping[str, str], cache_dir: Path | None) -> str:
    """Return what an audit finds on this machine: the sha256 of the dataset, and the weights of the static control."""
    dataset = dataset_at_hand(metrics, load(), corpus_files, environ)
    if metrics.control_static is None:
        return dataset
    fetched = encoder_status(ENCODER, environ, cache_dir or default_cache_dir(environ))[0]
    return f"{dataset}, {'with' if fetched else 'without'} the weights of {ENCODER}"


def _asked_again(check: Check, folder: Path) -> Check:
    if check.code != artefacts.GATE.code:
        return check
    finding = artefacts.committed(folder, artefacts.ARTEFACTS)
    return replace(check, status=finding.status, observed=finding.observed, awaits=finding.awaits)


@cache
def _program() -> str:
    """Return a hash over this program's files, and over the versions of what works figures out."""
    hashed = hashlib.sha256(program_sha256().encode())
    for package in ("numpy", "bm25s", "pydantic"):
        try:
            hashed.update(f"{package} {version(package)}\n".encode())
        except PackageNotFoundError:
            hashed.update(f"{package}\n".encode())
    return hashed.hexdigest()
