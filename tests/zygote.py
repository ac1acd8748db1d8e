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
import signal
import socket
import sys
import tempfile
import threading
from typing import NoReturn

LOADED_BY_THEMSELVES = (".__main__", ".pytest_plugin")
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


def accept(address: str) -> socket.socket:
    """Return a connection with a request, in a process that was forked for it; end with the parent."""
    parent = os.getppid()
    # The processes that answer are not waited for.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen(64)
        listener.settimeout(1)
        print("ready", flush=True)
        while os.getppid() == parent:
            try:
                connection, _ = listener.accept()
            except TimeoutError:
                continue
            if not os.fork():
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                return connection
            connection.close()
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
    with accept(sys.argv[1]) as connection, connection.makefile("rw") as stream:
        request = json.loads(stream.readline())
        out, err = tempfile.TemporaryFile(), tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
        if child := os.fork():
            _, status = os.waitpid(child, 0)
            texts = []
            for file in (out, err):
                file.seek(0)
                texts.append(file.read().decode("utf-8", "surrogateescape"))
            stream.write(json.dumps([os.waitstatus_to_exitcode(status), *texts]) + "\n")
            stream.flush()
            os._exit(0)
    # From here on this process is the command.
    os.dup2(out.fileno(), 1)
    os.dup2(err.fileno(), 2)
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
