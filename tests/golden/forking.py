"""Runs commands that come as JSON, each in a fork of a process that has the libraries loaded; prints what they left."""

import gc
import importlib
import json
import os
import pkgutil
import sys


def _run(words: list[str]) -> tuple[int, str, str]:
    out, err = (os.memfd_create(name) for name in ("out", "err"))
    child = os.fork()
    if not child:
        os.dup2(out, 1)
        os.dup2(err, 2)
        sys.argv[1:] = words
        sys.orig_argv[1:] = ["-m", "recallbench", *words]
        from recallbench.__main__ import run

        run()
    _, status = os.waitpid(child, 0)
    texts = []
    for handle in (out, err):
        with os.fdopen(handle, encoding="utf-8") as file:
            file.seek(0)
            texts.append(file.read())
    return os.waitstatus_to_exitcode(status), texts[0], texts[1]


def _load() -> None:
    """Import what commands import: the package, and the libraries that it imports where they are needed."""
    import bm25s  # noqa: F401
    import psycopg  # noqa: F401
    import scipy.stats  # noqa: F401

    import recallbench

    for module in pkgutil.walk_packages(recallbench.__path__, "recallbench."):
        if not module.name.endswith(("__main__", "pytest_plugin")):
            importlib.import_module(module.name)


if __name__ == "__main__":
    sys.path[0] = ""  # as `python -m` has it
    _load()
    gc.freeze()  # a fork then leaves the memory of what is loaded alone
    json.dump([_run(words) for words in json.load(sys.stdin)], sys.stdout)
