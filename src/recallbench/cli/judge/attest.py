"""`recallbench attest`: sign a result."""

from __future__ import annotations

from pathlib import Path

from recallbench.cli import options
from recallbench.cli.command import EPILOG, PATH, argument, command, option

EXAMPLE = (
    "Example: recallbench attest benchmarks/locomo/results/0.21.0_20261118 --key ~/.config/recallbench/release\n\n"
    "`recallbench audit DIR --require-attestation NAME.pub` verifies it. "
)


@command(
    argument("folder", "A result folder.", metavar="DIR", type=PATH),
    option("key", "The private key, as `recallbench keys` made it.", metavar="FILE", type=PATH),
    options.QUIET,
    options.CONFIG,
    epilog=EXAMPLE + EPILOG,
)
def attest(folder: Path, key: Path | None, quiet: bool) -> int:
    """Sign every file of a result by its hash; the envelope lies beside the folder, as DIR.attestation.json.

    The envelope is an in-toto Statement v1 in DSSE, signed with Ed25519, without any network. It states the audit's
    verdict at the time of signing. A folder that differs from its manifest is refused.
    """
    from recallbench.audit.audit import audit
    from recallbench.citing.attestation import attest as sign
    from recallbench.citing.keys import needs_extra
    from recallbench.cli.bars import listener
    from recallbench.errors import UsageError

    needs_extra()
    if key is None:
        raise UsageError(
            "no key is named", expected="--key FILE", remedy="make a pair with `recallbench keys NAME`, and name NAME"
        )
    examined = audit(folder, progress=listener(quiet))
    signed = sign(folder, key.expanduser(), examined.verdict.text, examined.verdict.canonical)
    print(f"{signed}\n  {examined.verdict.text}, {'' if examined.verdict.canonical else 'not '}CANONICAL when signed")
    return 0
