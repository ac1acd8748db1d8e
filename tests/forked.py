"""A command as a fork of the process that has the libraries loaded (`zygote.py`): what tests and their shells ask it.

As a program it takes the address of that process and the words of a command, and does what the command would.
"""

import json
import os
import socket
import sys
from collections.abc import Sequence

COMMAND = ("-m", "recallbench")


def outcome(
    address: str,
    words: Sequence[str],
    folder: str,
    environment: dict[str, str],
    *,
    program: Sequence[str] = COMMAND,
    typed: str = "",
) -> tuple[int, str, str]:
    """Return the exit code of a command, and what it printed; `typed` is what it reads from its input.

    `program` is what Python is given before the words: the command, ("-c", code) or the path of a script.
    """
    request = {"program": program, "words": words, "folder": folder, "environment": environment, "typed": typed}
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(address)
        with connection.makefile("rw") as stream:
            stream.write(json.dumps(request) + "\n")
            stream.flush()
            answer = json.loads(stream.readline())
    if isinstance(answer, str):  # another process has loaded more of what this command wants
        return outcome(answer, words, folder, environment, program=program, typed=typed)
    code, out, err = answer
    return code, out, err


if __name__ == "__main__":
    exit_code, printed, told = outcome(sys.argv[1], sys.argv[2:], os.getcwd(), dict(os.environ))
    sys.stdout.write(printed)
    sys.stderr.write(told)
    sys.exit(exit_code)
