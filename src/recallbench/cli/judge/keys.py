"""`recallbench keys`: make a pair of keys for attestations."""

from __future__ import annotations

import sys
from pathlib import Path

from recallbench.cli.command import PATH, argument, command


@command(
    argument("name", "The file of the private key; the public one is NAME.pub.", type=PATH),
    epilog="Example: recallbench keys ~/.config/recallbench/release",
)
def keys(name: Path) -> int:
    """Make an Ed25519 pair: NAME signs and stays with you (mode 0600), NAME.pub goes to whoever verifies.

    Neither file is ever overwritten, and no private key is written near a result folder.
    """
    from recallbench.citing.keys import make, public_key

    private, public = make(name.expanduser())
    print(f"private  {private}")
    print(f"public   {public}")
    print(f"key id   {public_key(public).keyid}")
    print("recallbench: the private key has no passphrase; keep it out of git and off shared disks", file=sys.stderr)
    return 0
