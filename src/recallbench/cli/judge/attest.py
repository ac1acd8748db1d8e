"""`recallbench attest`: sign a result."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from recallbench.cli import options
from recallbench.cli.command import EPILOG, PATH, argument, command, option, typed
from recallbench.cli.printing import show
from recallbench.reports.printing.printed import Format, Printed
from recallbench.reports.table import Table

if TYPE_CHECKING:
    from recallbench.runs.pack_checking import PackRequest

EXAMPLE = (
    "Example: recallbench attest benchmarks/locomo/results/0.21.0_20261118 --key ~/.config/recallbench/release\n\n"
    "`recallbench audit DIR --require-attestation NAME.pub` verifies it. "
)


@command(
    argument("folder", "A result folder, or a pack of vectors.", metavar="DIR", type=PATH),
    option("key", "The private key, as `recallbench keys` made it.", metavar="FILE", type=PATH),
    option("embedder", "Of a pack: its encoder, where its name in the pack does not say where it is, as path:DIR."),
    option("corpus-file", "Of a pack: its corpus [default: found by variable or data folder].", type=PATH),
    *options.FORMAT,
    options.LABELS,
    options.QUIET,
    options.CONFIG,
    epilog=EXAMPLE + EPILOG,
)
def attest(
    folder: Path,
    key: Path | None,
    embedder: str | None,
    corpus_file: Path | None,
    format: Format,
    labels: bool,
    quiet: bool,
) -> int:
    """Sign every file of a result by its hash; the envelope lies beside the folder, as DIR.attestation.json.

    The envelope is an in-toto Statement v1 in DSSE, signed with Ed25519, without any network. It states what the audit
    said at the time of signing, and what was not checked. A folder that differs from its manifest is refused. A pack
    (`recallbench vectors`) is verified first, and signed alike.
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
    from recallbench.runs.pack_checking import PackRequest

    needs_extra()
    if key is None:
        raise UsageError(
            "no key is named", expected="--key FILE", remedy="make a pair with `recallbench keys NAME`, and name NAME"
        )
    key = key.expanduser()
    if folder.is_file():
        request = PackRequest(
            folder, options.default_cache(), dict(os.environ), corpus_file=corpus_file, embedder=embedder
        )
        return _attest_pack(request, key, format, quiet)
    if only_of_pack := typed("embedder", "corpus_file"):
        raise UsageError(
            f"{only_of_pack} is for a pack of vectors", expected="FILE", found=str(folder), remedy="leave it out"
        )
    examined = audit(folder, progress=listener(quiet))
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


def _attest_pack(request: PackRequest, key: Path, format: Format, quiet: bool) -> int:
    from recallbench.citing.keys import private_key
    from recallbench.citing.pack_attestation import attest_pack
    from recallbench.cli.bars import listener
    from recallbench.reports.conclusions.packs import checked_document, checked_lines, conclude_signed
    from recallbench.runs.pack_checking import check_pack

    file = request.path
    private_key(key)  # refused before anything is embedded
    checked = check_pack(request, listener(quiet))
    path = attest_pack(file, key, checked)
    document = {"attestation": str(path), "file": str(file), **checked_document(checked)}
    found = checked_lines(checked, checked.not_checked)
    lines = [str(path), *(f"  {what}: {words}" for what, words in found.items())]
    sheet = Table(("what", "value"), [("attestation", str(path)), *found.items()])
    show(Printed("Attestation", lines, document, conclude_signed(checked, file, key), own_sheet=sheet), format)
    return 0
