"""A Bolt server on the loopback interface, for `--store graph` without a database of one's own.

    pip install 'recallbench[neo4j]' arcadedb-embedded
    NEO4J_PASSWORD=anything-of-8-or-more python examples/bolt_server.py --port 7687

It prints the variables to export, serves until Ctrl-C or SIGTERM (or until its input ends, with --until-eof), and keeps
its data in a temporary folder. It is ArcadeDB, which speaks Bolt as Neo4j does; 71 MB to fetch, and Java comes along.
"""

from __future__ import annotations

import argparse
import os
import secrets
import signal
import socket
import sys
import tempfile
from contextlib import suppress

DATABASE = "mem"


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def main() -> None:
    parser = argparse.ArgumentParser(description="A Bolt server on 127.0.0.1, for `recallbench … --store graph`.")
    parser.add_argument("--port", type=int, default=7687, help="of Bolt; 0 takes a free one")
    parser.add_argument("--until-eof", action="store_true", help="serve until the input ends")
    options = parser.parse_args()
    try:
        import arcadedb_embedded
    except ModuleNotFoundError:
        sys.exit("arcadedb-embedded is missing: pip install arcadedb-embedded")
    # Left to Java, SIGTERM ends the process in the middle of Python's own work, and with a crash.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    os.environ["ARCADEDB_JVM_ARGS"] = f"{os.environ.get('ARCADEDB_JVM_ARGS', '')} -Xrs"
    port, password = options.port or free_port(), os.environ.get("NEO4J_PASSWORD") or secrets.token_urlsafe(12)
    with suppress(KeyboardInterrupt), tempfile.TemporaryDirectory(prefix="recallbench-bolt-") as folder:
        os.chdir(folder)  # its log goes where it is started
        server = arcadedb_embedded.create_server(
            root_path=folder,
            root_password=password,
            config={
                "host": "127.0.0.1",
                "http_port": str(free_port()),
                "bolt_port": port,
                "server_plugins": "Bolt:com.arcadedb.bolt.BoltProtocolPlugin",
            },
        )
        try:
            server.start()
            server.create_database(DATABASE)
            shown = "" if os.environ.get("NEO4J_PASSWORD") else f" NEO4J_PASSWORD={password}"
            where = f"NEO4J_URI=bolt://127.0.0.1:{port} NEO4J_USER=root NEO4J_DATABASE={DATABASE}{shown}"
            print(f"export {where}", flush=True)
            if options.until_eof:
                sys.stdin.read()
            else:
                signal.pause()
        finally:
            server.stop()


if __name__ == "__main__":
    main()
