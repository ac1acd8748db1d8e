"""`recallbench keys`: make a pair of keys for attestations."""

from __future__ import annotations

from pathlib import Path

from recallbench.cli import options
from recallbench.cli.command import PATH, argument, command
from recallbench.cli.printing import show
from recallbench.escaping import shell
from recallbench.reports.printing.conclusion import Conclusion
from recallbench.reports.printing.printed import Format, Printed
from recallbench.reports.table import Table


@command(
    argument("name", "The file of the private key; the public one is NAME.pub.", type=PATH),
    *options.FORMAT,
    epilog="Example: recallbench keys ~/.config/recallbench/release",
)
def keys(name: Path, format: Format) -> int:
    """Make an Ed25519 pair: NAME signs and stays with you (mode 0600), NAME.pub goes to whoever verifies.

    Neither file is ever overwritten, and no private key is written near a result folder.
    """
    from recallbench.citing.keys import make, public_key

    private, public = make(name.expanduser())
    document = {"private": str(private), "public": str(public), "key id": public_key(public).keyid}
    conclusion = Conclusion(
        "Made a pair of keys",
        "the private one has no passphrase: keep it out of git and off shared disks",
        shell.command("attest", "DIR", "--key", private),
    )
    lines = [f"{what:<7}  {value}" for what, value in document.items()]
    sheet = Table(("what", "value"), list(document.items()))
    show(Printed("A pair of keys", lines, document, conclusion, own_sheet=sheet), format)
    return 0
