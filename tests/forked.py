"""A command as a fork of the process that has the libraries loaded (`zygote.py`): what tests and their shells ask it.

As a program it takes the address of that process and the words of a command, and does what the command would.
"""

import json
import os
import socket
import sys

SEEDED = ("run", "versions", "repeat", "evaluate", "grow", "latency", "sweep", "matrix")
"""Commands that start themselves again under the protocol's hash seed, where none is set."""


def outcome(address: str, words: list[str], folder: str, environment: dict[str, str]) -> tuple[int, str, str]:
    """Return the exit code of a command, and what it printed."""
    if words and words[0] in SEEDED:
        environment = {"PYTHONHASHSEED": "42", **environment}
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(address)
        with connection.makefile("rw") as stream:
            stream.write(json.dumps({"words": words, "folder": folder, "environment": environment}) + "\n")
            stream.flush()
            code, out, err = json.loads(stream.readline())
    return code, out, err


if __name__ == "__main__":
    exit_code, printed, told = outcome(sys.argv[1], sys.argv[2:], os.getcwd(), dict(os.environ))
    sys.stdout.write(printed)
    sys.stderr.write(told)
    sys.exit(exit_code)
