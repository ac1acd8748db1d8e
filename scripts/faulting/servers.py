"""Named servers that are killed, frozen, filled up, shut against writes or restarted while a run is at work on them."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from random import Random

from faulting.cluster import HOST, Cluster
from faulting.kills import Outcome
from faulting.phases import ENCODER, OUT
from faulting.place import Done, a_place, content_of
from faulting.proxy import Proxy

PHASES = ("ingest", "search")
LOST, ROOM, READ_ONLY, GAVE_UP = "lost while", "ran out of room while", "read-only", "gave up while"
SILENT = "nothing came from"
NOT_TRIED = "without a trial"
PAUSE = 1.5
"""Seconds that something stands still which then goes on."""


BOUND = 10.0
"""Seconds that a run may take from a signal to its end."""


@dataclass
class Site:
    """A server with all that stands around it."""

    server: Cluster
    standby: Cluster | None = None
    proxy: Proxy | None = None
    pause: float = 0.0
    """Seconds that the run itself waits before it goes on after the fault."""
    signal_after: float | None = None
    """Seconds after which the run is sent SIGTERM."""
    undo: list[Callable[[], object]] = field(default_factory=list)
    """What makes all well again, for the next run."""
    dsn: str = ""


Strike = Callable[[Site], None]


@dataclass(frozen=True)
class ServerFault:
    """Something that befalls a server, and what a run that meets it comes to."""

    name: str
    strike: Strike
    code: int = 3
    says: str = ""
    """Words of the error."""
    phases: tuple[str, ...] = PHASES
    patience: str = ""
    """Seconds that the run is told to wait for a server that says nothing."""
    around: str = ""
    """`standby` or `proxy` where there is to be one, `disk` where the data lie on a small disk."""


def _killed(site: Site) -> None:
    site.server.stop(signal.SIGKILL)
    site.undo.append(site.server.start)


def _restarted(site: Site) -> None:
    site.server.restart()


def _cut_off(site: Site) -> None:
    site.server.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'recallbench'")


def _holder_lost(site: Site) -> None:
    """The session that holds the schema is not the one that searches, and sits idle meanwhile."""
    site.server.execute("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'")


def _paused(site: Site) -> None:
    site.server.freeze()
    threading.Timer(PAUSE, site.server.thaw).start()


def _frozen(site: Site) -> None:
    site.server.freeze()
    site.signal_after = 0.5
    site.undo.append(site.server.thaw)


def _silent(site: Site) -> None:
    site.server.freeze()
    site.undo.append(site.server.thaw)


def _proxy_silent(site: Site) -> None:
    assert site.proxy is not None
    site.proxy.stalled.set()
    site.undo.append(site.proxy.stalled.clear)


def _full(site: Site) -> None:
    filling = site.server.data.parent / "filling"
    with filling.open("wb", 0) as file:
        try:
            while file.write(bytes(1 << 16)):
                pass
        except OSError:
            pass
    site.undo.append(filling.unlink)


def _set(site: Site, name: str, value: str) -> None:
    site.server.execute(f"ALTER SYSTEM SET {name} = '{value}'", "SELECT pg_reload_conf()")

    site.undo.append(lambda: site.server.execute(f"ALTER SYSTEM RESET {name}", "SELECT pg_reload_conf()"))
    time.sleep(0.2)


def _idle_too_long(site: Site) -> None:
    _set(site, "idle_session_timeout", "100ms")
    site.pause = 0.5


def _proxy_cuts(site: Site) -> None:
    assert site.proxy is not None
    site.proxy.cut()


def _proxy_pauses(site: Site) -> None:
    assert site.proxy is not None
    site.proxy.stalled.set()
    threading.Timer(PAUSE, site.proxy.stalled.clear).start()


def _proxy_stalls(site: Site) -> None:
    assert site.proxy is not None
    site.proxy.stalled.set()
    site.signal_after = 0.5
    site.undo.append(site.proxy.stalled.clear)


def _proxy_drops_idle(site: Site) -> None:
    assert site.proxy is not None
    site.pause = 1.0


def _promoted(site: Site) -> None:
    """The primary dies, and its standby takes its place."""
    assert site.standby is not None
    site.server.stop(signal.SIGKILL)
    site.standby.execute("SELECT pg_promote()")
    site.server = site.standby


def _standby_frozen(site: Site) -> None:
    """The primary commits nothing that its standby has not confirmed, and that one stands still."""
    assert site.standby is not None
    site.standby.freeze()
    site.server.execute("ALTER SYSTEM SET synchronous_standby_names = '*'", "SELECT pg_reload_conf()")
    site.undo.append(site.standby.thaw)
    time.sleep(0.2)


FAULTS = (
    ServerFault("killed", _killed, 3, LOST),
    ServerFault("restarted", _restarted, 3, LOST),
    ServerFault("sessions-ended", _cut_off, 3, LOST),
    ServerFault("holder-lost", _holder_lost, 0, "", ("search",)),
    ServerFault("frozen-a-while", _paused, 0),
    ServerFault("frozen", _frozen, 130, "interrupted"),
    ServerFault("silent", _silent, 3, SILENT, patience="1"),
    ServerFault("full", _full, 3, ROOM, ("ingest",), around="disk"),
    ServerFault(
        "read-only", partial(_set, name="default_transaction_read_only", value="on"), 3, READ_ONLY, ("ingest",)
    ),
    ServerFault("statement-timeout", partial(_set, name="statement_timeout", value="1ms"), 3, GAVE_UP, ("ingest",)),
    ServerFault("idle-timeout", _idle_too_long, 0),
    ServerFault("proxy-cuts", _proxy_cuts, 3, LOST, around="proxy"),
    ServerFault("proxy-pauses", _proxy_pauses, 0, around="proxy"),
    ServerFault("proxy-stalls", _proxy_stalls, 130, "interrupted", around="proxy"),
    ServerFault("proxy-drops-idle", _proxy_drops_idle, 3, LOST, around="proxy"),
    ServerFault("proxy-silent", _proxy_silent, 3, SILENT, patience="1", around="proxy"),
    ServerFault("promoted", _promoted, 3, LOST, around="standby"),
    ServerFault("standby-frozen", _standby_frozen, 0, phases=("parse", "ingest"), around="standby"),
)
CASES = tuple((fault, phase) for fault in FAULTS for phase in fault.phases)


class Unmountable(Exception):
    """No small disk can be had here."""


def perform(seed: int, number: int) -> Outcome:
    """Let a fault befall the server of a run at a drawn line of a phase; then mend it, and run again."""
    fault, phase = CASES[number % len(CASES)]
    share = Random(f"{seed}:{number}").random()
    try:
        return _performed(fault, phase, share)
    except Unmountable:
        return Outcome(f"server {fault.name} in {phase}: no file system can be mounted here", ended=NOT_TRIED)


def _performed(fault: ServerFault, phase: str, share: float) -> Outcome:
    with _site(fault) as site, a_place() as first, a_place() as second:
        words = ("run", "canary-locomo", "--limit", "40", "--store", "pgvector", *ENCODER, *OUT, "--dsn", site.dsn)
        undisturbed = first.run(words, phase="none")
        assert undisturbed.code == 0, undisturbed.err
        (folder,) = first.results()
        content, lines = content_of(folder), first.counts()[phase]
        line = int(lines * share)
        if fault.patience:
            second.env["RECALLBENCH_STORE_TIMEOUT"] = fault.patience
        signals = list[float]()

        def interrupt() -> None:
            signals.append(time.monotonic())
            second.interrupt()

        def befall() -> None:
            fault.strike(site)
            time.sleep(site.pause)
            if site.signal_after is not None:
                threading.Timer(site.signal_after, interrupt).start()

        struck = second.run_halted(words, befall, phase=phase, line=line)
        found = Outcome(f"server {fault.name} at line {line:,} of {lines:,} of {phase}", ended=f"exit {struck.code}")
        found.problems += _wrong_end(struck, fault)
        if signals and time.monotonic() - signals[0] > BOUND:
            found.problems.append(f"it ended {time.monotonic() - signals[0]:.0f} s after the signal")
        found.problems += [f"after the fault there is {name}" for name in second.left_over()]
        for undo in reversed(site.undo):
            undo()
        again = second.run(words)
        if again.code:
            found.problems.append(f"run again, it ended with {again.code}: {again.err[-2000:]}")
        for made in second.results():
            if not made.name.endswith("BLOCKED") and content_of(made) != content:
                found.problems.append(f"{made.name} is another: {content_of(made)[:500]}")
        found.problems += [f"after the next run there is {name}" for name in second.left_over()]
        found.problems += [f"the server still has {name}" for name in site.server.schemas()]
        return found


def _wrong_end(done: Done, fault: ServerFault) -> list[str]:
    problems = []
    if done.code != fault.code or fault.says not in done.err:
        problems.append(f"it ended with {done.code}, not {fault.code} and `{fault.says}`: {done.err[-2000:]}")
    if "Traceback" in done.err or "defect" in done.err:
        problems.append(f"it printed a traceback: {done.err[-3000:]}")
    return problems


@contextmanager
def _site(fault: ServerFault) -> Iterator[Site]:
    with a_place() as place, ExitStack() as ending:
        room = place.tmp / "server"
        if fault.around == "disk":
            room.mkdir()
            mount = ["mount", "-t", "tmpfs", "-o", "size=120m", "tmpfs", str(room)]
            if os.geteuid() or subprocess.run(mount, check=False).returncode:
                raise Unmountable
            ending.callback(subprocess.run, ["umount", str(room)], check=True)
        server = Cluster(room)
        ending.callback(server.stop)
        site = Site(server.start(), dsn=server.dsn)
        if fault.around == "standby":
            site.standby = server.follower(place.tmp / "standby")
            ending.callback(site.standby.stop)
            hosts, ports = f"host={HOST},{HOST} ", f"port={server.port},{site.standby.start().port} "
            site.dsn = server.dsn.replace(f"host={HOST} ", hosts).replace(f"port={server.port} ", ports)
            site.dsn += " target_session_attrs=read-write"
        if fault.around == "proxy":
            site.proxy = Proxy(server.port, idle=0.5 if fault.strike is _proxy_drops_idle else None)
            ending.callback(site.proxy.close)
            site.dsn = server.dsn.replace(f"port={server.port} ", f"port={site.proxy.port} ")
        yield site
