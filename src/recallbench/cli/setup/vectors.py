"""`recallbench vectors`: the vectors of a corpus as one file, made on one machine and used on others."""

from __future__ import annotations

import getpass
import os
from collections.abc import Mapping
from datetime import date
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click

from recallbench.cli import encoder_options, options
from recallbench.cli.command import EPILOG, PATH, argument, choice, command, option
from recallbench.cli.printing import show
from recallbench.corpora.labelled_sets import options as labelled_options
from recallbench.corpora.matching import options as matching_options
from recallbench.embedding.options import BACKEND_HELP, Backend
from recallbench.reports.printing.printed import Format, Printed
from recallbench.reports.table import Table

if TYPE_CHECKING:
    from recallbench.reports.printing.conclusion import Conclusion
    from recallbench.runs.pack_checking import PackRequest

SUMMARY = "Portable vectors: those of a corpus as one file, made on one machine and used on others."
PACK = argument("file", "A pack, as `recallbench vectors pack` made it.", metavar="FILE", type=PATH)
CHECKING = (
    PACK,
    option(
        "key",
        "The public key of whoever vouches for it: FILE.attestation.json has to be signed with it.",
        metavar="NAME.pub",
        type=PATH,
    ),
    option("corpus-file", "The corpus it was made of [default: found by variable or data folder].", type=PATH),
    option(
        "embedder", "The encoder it was made with, where its name in the pack does not say where it is, as path:DIR."
    ),
    choice("backend", BACKEND_HELP, get_args(Backend), default="auto"),
    options.CACHE_DIR,
    *options.FORMAT,
    options.QUIET,
    options.CONFIG,
)


@command(
    argument(
        "corpus",
        "locomo, longmemeval, canary-locomo, …, or your own data: DIR, or hub:OWNER/NAME@<40 hex digits>; none with "
        "--corpus-shape.",
        required=False,
    ),
    encoder_options.EMBEDDER,
    encoder_options.MAX_TOKENS,
    encoder_options.BACKEND,
    *options.of_corpus(*matching_options.OPTIONS, *labelled_options.OPTIONS),
    options.RANDOM_MATCHES,
    *options.OWN_CORPUS,
    option("maker", "Who makes it, as every result over it will say [default: your name on this machine]."),
    option("save", "The file to write; it must not exist yet [default: ENCODER-CORPUS.safetensors].", type=PATH),
    options.CACHE_DIR,
    *options.FORMAT,
    options.QUIET,
    options.CONFIG,
    epilog=f"Example: recallbench vectors pack locomo --embedder dragon-plus --maker 'Our lab'. {EPILOG}",
)
def pack(corpus: str | None, maker: str | None, save: Path | None, format: Format, quiet: bool, **others: Any) -> int:
    """Write the vectors of a corpus, segments and questions, into one file; what has none yet is embedded first.

    The file holds vectors, hashes and counts, and no text. The same vectors give the same file, but for maker and day.
    """
    from recallbench.cli.bars import listener
    from recallbench.cli.measure.corpus_or_set import obtain_corpus
    from recallbench.corpora.stream import sha256_of
    from recallbench.embedding.packs.manifest import as_words
    from recallbench.reports.conclusions.packs import conclude_made, pack_lines
    from recallbench.runs.pack_making import default_name, make_pack

    progress = listener(quiet)
    run_options = obtain_corpus(corpus, others, progress)
    path = save or Path(default_name(run_options))
    name = maker or as_words(getpass.getuser()) or "unnamed"
    manifest = make_pack(run_options, path, name, date.today(), progress)
    sha256 = sha256_of(path)
    lines, document = pack_lines(manifest, sha256), {"file": str(path), "sha256": sha256}
    _show(str(path), lines, {**document, "manifest": manifest.model_dump()}, conclude_made(manifest, path), format)
    return 0


@command(*CHECKING, epilog=f"Example: recallbench vectors verify locomo.safetensors --key their.pub. {EPILOG}")
def verify(file: Path, format: Format, quiet: bool, **others: Any) -> int:
    """Check that a pack is what it says; the last line says what was checked, and what was not.

    Its bytes always; with --key who vouches for it; where the corpus is at hand its texts, and where the weights are,
    too, 32 texts are embedded again. Which ones nobody can foresee who made it. Nothing is fetched.
    """
    from recallbench.cli.bars import listener
    from recallbench.reports.conclusions.packs import checked_document, checked_lines, conclude_checked, pack_lines
    from recallbench.runs.pack_checking import check_pack

    checked = check_pack(_request(file, **others), listener(quiet))
    lines = {**pack_lines(checked.manifest, checked.sha256), **checked_lines(checked)}
    document = {"file": str(file), **checked_document(checked)}
    _show(str(file), lines, document, conclude_checked(checked, file), format)
    return 0


@command(*CHECKING, epilog=f"Example: recallbench vectors use locomo.safetensors --key their.pub. {EPILOG}")
def use(file: Path, format: Format, quiet: bool, **others: Any) -> int:
    """Check a pack as `verify` does, and let runs of its encoder on its corpus take their vectors from it.

    They need neither weights nor network then, and name its maker. Of several packs of the same, the one that was used
    last counts; --backend with a run asks for vectors that are made here.
    """
    from recallbench.cli.bars import listener
    from recallbench.reports.conclusions.packs import checked_document, checked_lines, conclude_used, pack_lines
    from recallbench.runs.pack_checking import take_pack

    used, checked = take_pack(_request(file, **others), listener(quiet))
    folder = {"folder": str(used.folder)}
    lines = {**pack_lines(checked.manifest, checked.sha256), **checked_lines(checked), **folder}
    document = {"file": str(file), **checked_document(checked), **folder}
    _show(str(file), lines, document, conclude_used(checked, used.record, file), format)
    return 0


def _request(file: Path, key: Path | None, cache_dir: Path | None, **others: Any) -> PackRequest:
    from recallbench.citing.keys import needs_extra
    from recallbench.citing.pack_attestation import read_pack_signature
    from recallbench.runs.pack_checking import PackRequest

    if key is not None:
        needs_extra()
    return PackRequest(
        file,
        cache_dir or options.default_cache(),
        dict(os.environ),
        signature=None if key is None else partial(read_pack_signature, file, key.expanduser()),
        **others,
    )


def _show(
    title: str, lines: Mapping[str, str], document: Mapping[str, Any], conclusion: Conclusion, format: Format
) -> None:
    width = max(map(len, lines))
    told = [title, *(f"  {what.ljust(width)}  {value}" for what, value in lines.items())]
    sheet = Table(("what", "value"), [("file", title), *lines.items()])
    markdown = "\n".join(sheet.markdown())
    show(Printed("Portable vectors", told, document, conclusion, own_markdown=markdown, own_sheet=sheet), format)


class VectorsGroup(click.Group):
    """What is done with a pack, in the order in which that is done."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, (each.help or "").partition("\n")[0]) for name, each in self.commands.items()])


vectors = VectorsGroup(
    "vectors",
    {"pack": pack, "verify": verify, "use": use},
    help=f"{SUMMARY}\n\nWhere the weights are: pack, then `recallbench attest`. Anywhere else: use, then run.",
    epilog="Exit codes: 0 done, 2 a pack that is not what it says, or wrong usage, 3 something is missing.",
)
