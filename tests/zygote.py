"""A process with the program's libraries loaded, of which each command of a test is a fork: its start is quick.

It listens on the Unix socket of its first argument for as long as its parent lives. A request is one line of JSON: the
words of a command, its folder and its environment. The answer is another: the exit code, and what was printed.
"""

import atexit
import gc
import importlib
import json
import os
import pkgutil
import random
import selectors
import signal
import socket
import sys
import tempfile
import threading
from contextlib import suppress
from typing import IO, Any, NamedTuple, NoReturn

LOADED_BY_THEMSELVES = (".__main__", ".pytest_plugin")
PATIENCE_S = 10
"""How long whoever connects may take to say what is asked."""
READ_VARIABLES_AT_IMPORT = ("huggingface_hub", "torch", "transformers", "openvino")


def load() -> None:
    """Import the package, and the libraries that it imports where they are needed."""
    import bm25s  # noqa: F401
    import pgvector.psycopg  # noqa: F401
    import psycopg  # noqa: F401

    import recallbench

    for module in pkgutil.walk_packages(recallbench.__path__, "recallbench."):
        if not module.name.endswith(LOADED_BY_THEMSELVES):
            importlib.import_module(module.name)
    early = [name for name in READ_VARIABLES_AT_IMPORT if name in sys.modules]
    assert not early, f"every command has variables of its own, which these read when they are imported: {early}"


class Asked(NamedTuple):
    """Who asked for a command, and the files of what it prints."""

    connection: socket.socket
    out: IO[bytes]
    err: IO[bytes]

    def answer(self, status: int) -> None:
        """Tell how the command ended, if anyone still listens."""
        texts = []
        for file in (self.out, self.err):
            file.seek(0)
            texts.append(file.read().decode("utf-8", "surrogateescape"))
        with self.connection, self.out, self.err, suppress(OSError):
            answer = json.dumps([os.waitstatus_to_exitcode(status), *texts]) + "\n"
            self.connection.sendall(answer.encode())


def serve(address: str) -> tuple[dict[str, Any], Asked]:
    """Return a request and who asked, in a process that was forked for it; end with the parent."""
    parent = os.getppid()
    running: dict[int, Asked] = {}
    woken, waking = socket.socketpair()
    waking.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(waking.fileno(), warn_on_full_buffer=False)
    with socket.socket(socket.AF_UNIX) as listener, selectors.DefaultSelector() as ready, woken, waking:
        listener.bind(address)
        listener.listen(64)
        ready.register(listener, selectors.EVENT_READ)
        ready.register(woken, selectors.EVENT_READ)
        print("ready", flush=True)
        while os.getppid() == parent:
            events = {key.fileobj for key, _ in ready.select(timeout=1)}
            if woken in events:
                woken.recv(4096)
            for pid in list(running):
                ended, status = os.waitpid(pid, os.WNOHANG)
                if ended:
                    running.pop(pid).answer(status)
            if listener in events:
                connection, _ = listener.accept()
                connection.settimeout(PATIENCE_S)
                try:
                    with connection.makefile("r") as stream:
                        request = json.loads(stream.readline())
                except (OSError, ValueError):  # whoever asked ended before saying what
                    connection.close()
                    continue
                connection.settimeout(None)
                out, err = tempfile.TemporaryFile(), tempfile.TemporaryFile()  # noqa: SIM115 - closed with the answer
                asked = Asked(connection, out, err)
                if child := os.fork():
                    running[child] = asked
                    continue
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                for other in running.values():
                    other.connection.close()
                return request, asked
    sys.exit()


def end(code: int) -> NoReturn:
    """End as an interpreter ends, but leave the loaded libraries alone.

    Taking them apart touches all their memory, and a fork that touches memory copies it: two thirds of a short command.
    """
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    load()
    gc.freeze()  # a fork then leaves the memory of what is loaded alone
    request, asked = serve(sys.argv[1])
    # From here on this process is the command.
    os.dup2(asked.out.fileno(), 1)
    os.dup2(asked.err.fileno(), 2)
    asked.connection.close()
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    tempfile.tempdir = None  # the folder that its own TMPDIR names
    random.seed()
    sys.path[0] = request["folder"]  # as `python -m` has it
    sys.argv[1:] = request["words"]
    sys.orig_argv[1:] = ["-m", "recallbench", *request["words"]]
    from recallbench.__main__ import run

    try:
        run()
    except SystemExit as ending:
        end(int(ending.code or 0))
