"""A process with the program's libraries loaded, of which each command of a test is a fork: its start is quick.

It listens on the Unix socket of its first argument for as long as its parent lives, and then removes the socket's
folder. A request is one line of JSON, as `forked.py` writes it. The answer is another: the exit code, and what was
printed. Commands with an encoder are forks of a fork, which has loaded what encoders are run with: three seconds of a
processor, for each that would load it. It is started when the first of them comes, and the answer is then its address.
"""

import atexit
import gc
import importlib
import json
import os
import pkgutil
import random
import runpy
import selectors
import shutil
import signal
import socket
import sys
import tempfile
import threading
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import IO, Any, NamedTuple, NoReturn

from forked import COMMAND

LOADED_BY_THEMSELVES = (".__main__", ".pytest_plugin")
PATIENCE_S = 10
"""How long whoever connects may take to say what is asked."""
LOOK_S = 0.2
"""Seconds between two looks at whether the parent still lives."""
BESIDE = "-encoders"
"""What the address of the process for commands with an encoder ends in."""
QUICK_PAUSE = 0.001
"""Seconds before a request that failed is made once more."""
READ_VARIABLES_AT_IMPORT = ("huggingface_hub", "torch", "transformers", "openvino")
THEIR_VARIABLES = ("HF_", "HUGGING", "TORCH", "PYTORCH", "TRANSFORMERS", "OPENVINO", "OV_")
"""Prefixes of the variables that those read."""
ENCODERS = ("minilm", "path:")
"""What is in the words for an encoder whose files lie on this machine: it reads nothing in the folder of HF_HOME."""
WANTED = "TESTS_WITH_ENCODERS"
"""The variable that is set where tests of the marked stage are run: no other lets an encoder embed."""
READ_AT_START = {"sitecustomize", "usercustomize"}
"""Modules that an interpreter imports when it starts, wherever one is."""


def load() -> None:
    """Import the package, and the libraries that it imports where they are needed."""
    import bm25s  # noqa: F401
    import h11  # noqa: F401
    import httpcore2  # noqa: F401
    import httpx2  # noqa: F401
    import pgvector.psycopg  # noqa: F401
    import platformdirs.unix  # noqa: F401
    import psycopg  # noqa: F401

    import recallbench
    from recallbench import web_json
    from recallbench.audit import kept_audits

    for module in pkgutil.walk_packages(recallbench.__path__, "recallbench."):
        if not module.name.endswith(LOADED_BY_THEMSELVES):
            importlib.import_module(module.name)
    kept_audits._program()  # hashes the package, once for all commands
    web_json.FIRST_PAUSE = QUICK_PAUSE
    early = [name for name in READ_VARIABLES_AT_IMPORT if name in sys.modules]
    assert not early, f"every command has variables of its own, which these read when they are imported: {early}"


def load_encoders() -> None:
    """Import what the encoder is run with; not OpenVINO, whose import starts a thread, which no fork has."""
    import safetensors.torch  # noqa: F401
    import tokenizers  # noqa: F401
    import torch  # noqa: F401
    import transformers.models.bert.modeling_bert  # noqa: F401


def wants_encoder(request: dict[str, Any]) -> bool:
    """Whether a command may run the encoder, with the variables that its libraries were loaded with."""
    if WANTED not in os.environ:
        return False
    own, given = (
        {name: value for name, value in variables.items() if name.startswith(THEIR_VARIABLES) and name != "HF_HOME"}
        for variables in (os.environ, request["environment"])
    )
    named = any(encoder in word for encoder in ENCODERS for word in request["words"])
    return request["program"] == list(COMMAND) and named and own == given


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


def fork_beside(address: str) -> str:
    """Start the process for commands with an encoder; return its address once it is ready, and in itself nothing."""
    told, telling = os.pipe()
    if os.fork():
        os.close(telling)
        with open(told) as ready:
            assert ready.readline() == "ready\n"
        return address + BESIDE
    os.close(told)
    os.dup2(telling, 1)
    return ""


def serve(address: str, *, encoders: bool = False) -> tuple[dict[str, Any], Asked] | None:
    """Return a request and who asked, in a process that was forked for it; end with the parent.

    None is returned in the process that is to serve those with an encoder.
    """
    parent = os.getppid()
    beside = ""
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
            events = {key.fileobj for key, _ in ready.select(timeout=LOOK_S)}
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
                if not encoders and wants_encoder(request):
                    beside = beside or fork_beside(address)
                    if not beside:
                        return None
                    with connection, suppress(OSError):
                        connection.sendall(f"{json.dumps(beside)}\n".encode())
                    continue
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
    shutil.rmtree(Path(address).parent, ignore_errors=True)  # the other may have been here
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


def become(request: dict[str, Any], asked: Asked) -> None:
    """Make this process what a new interpreter of that request would be."""
    os.dup2(asked.out.fileno(), 1)
    os.dup2(asked.err.fileno(), 2)
    asked.connection.close()
    if request["typed"]:
        with tempfile.TemporaryFile() as typed:
            typed.write(request["typed"].encode())
            typed.seek(0)
            os.dup2(typed.fileno(), 0)
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    tempfile.tempdir = None  # the folder that its own TMPDIR names
    random.seed()
    sys.orig_argv[1:] = [*request["program"], *request["words"]]
    sys.argv[1:] = request["words"]


def import_from(variable: str) -> bool:
    """Let modules be found in the folders of PYTHONPATH; whether none of them would be in place of a loaded one."""
    folders = [folder for folder in variable.split(os.pathsep) if folder and folder not in sys.path]
    sys.path[1:1] = folders
    names = {
        entry.name.partition(".")[0] for folder in map(Path, folders) if folder.is_dir() for entry in folder.iterdir()
    }
    return names.isdisjoint(READ_AT_START | {name.partition(".")[0] for name in sys.modules})


def run_program(program: list[str], words: list[str]) -> None:
    """Run the command, a script or the code behind -c as the main program."""
    if not import_from(os.environ.get("PYTHONPATH", "")):
        os.execv(sys.executable, [sys.executable, *program, *words])
    from recallbench.cli.main import HASH_SEED, MEASURING

    if program != list(COMMAND) or (words and words[0] in MEASURING):
        # This interpreter has the seed under which they would start themselves again.
        os.environ.setdefault("PYTHONHASHSEED", HASH_SEED)
    if program == list(COMMAND):
        from recallbench.__main__ import run

        sys.path[0] = os.getcwd()
        run()
    elif program[0] == "-c":
        sys.path[0], sys.argv[0] = "", "-c"
        main = sys.modules["__main__"] = ModuleType("__main__")
        exec(compile(program[1], "<string>", "exec"), main.__dict__)
    else:
        sys.path[0], sys.argv[0] = str(Path(program[0]).parent), program[0]
        runpy.run_path(program[0], run_name="__main__")


if __name__ == "__main__":
    load()
    gc.freeze()  # a fork then leaves the memory of what is loaded alone
    served = serve(sys.argv[1])
    if served is None:
        load_encoders()
        gc.freeze()
        served = serve(sys.argv[1] + BESIDE, encoders=True)
        assert served
    request, asked = served
    # From here on this process is the command.
    become(request, asked)
    try:
        run_program(request["program"], request["words"])
    except SystemExit as ending:
        if isinstance(ending.code, str):
            print(ending.code, file=sys.stderr)
            end(1)
        end(int(ending.code or 0))
    end(0)
