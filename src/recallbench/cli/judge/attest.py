"""`recallbench attest`: sign a result."""

from __future__ import annotations

from pathlib import Path

from recallbench.cli import options
from recallbench.cli.command import EPILOG, PATH, argument, command, option
from recallbench.cli.printing import show
from recallbench.reports.printing.printed import Format, Printed
from recallbench.reports.table import Table

EXAMPLE = (
    "Example: recallbench attest benchmarks/locomo/results/0.21.0_20261118 --key ~/.config/recallbench/release\n\n"
    "`recallbench audit DIR --require-attestation NAME.pub` verifies it. "
)


@command(
    argument("folder", "A result folder.", metavar="DIR", type=PATH),
    option("key", "The private key, as `recallbench keys` made it.", metavar="FILE", type=PATH),
    *options.FORMAT,
    options.LABELS,
    options.QUIET,
    options.CONFIG,
    epilog=EXAMPLE + EPILOG,
)
def attest(folder: Path, key: Path | None, format: Format, labels: bool, quiet: bool) -> int:
    """Sign every file of a result by its hash; the envelope lies beside the folder, as DIR.attestation.json.

    The envelope is an in-toto Statement v1 in DSSE, signed with Ed25519, without any network. It states what the audit
    said at the time of signing, and what was not checked. A folder that differs from its manifest is refused.
    """
    from recallbench.audit.audit import audit
    from recallbench.audit.checks.ranges import recorded_words
    from recallbench.audit.listing import label, tells_labels
    from recallbench.audit.outcome import outcome
    from recallbench.citing.attestation import attest as sign
    from recallbench.citing.attestation import conclude_attested, unchecked
    from recallbench.citing.keys import needs_extra
    from recallbench.cli.bars import listener
    from recallbench.errors import UsageError

    needs_extra()
    if key is None:
        raise UsageError(
            "no key is named", expected="--key FILE", remedy="make a pair with `recallbench keys NAME`, and name NAME"
        )
    examined = audit(folder, progress=listener(quiet))
    key = key.expanduser()
    path = sign(folder, key, examined)
    left = unchecked(examined)
    lines = [str(path), f"  when signed: {outcome(examined.checks)}"]
    lines += [f"  not checked: {', '.join(left)}"] if left else []
    lines.append(f"  {recorded_words(examined.recorded)}")
    lines += [f"  verdict: {label(examined)}"] if labels or tells_labels(examined) else []
    document = {
        "attestation": str(path),
        "folder": str(folder),
        "word": outcome(examined.checks).word,
        "verdict": examined.verdict.text,
        "canonical": examined.verdict.canonical,
        "not_checked": left,
        "not_derivable": list(examined.recorded),
    }
    cells = [(name, "; ".join(value) if isinstance(value, list) else str(value)) for name, value in document.items()]
    sheet = Table(("what", "value"), cells)
    conclusion = conclude_attested(examined, key)
    show(Printed("Attestation", lines, document, conclusion, own_sheet=sheet), format)
    return 0
