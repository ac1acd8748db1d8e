"""`recallbench label`: make a set of one's own, by looking at what a store finds or from a table."""

from __future__ import annotations

import sys
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recallbench.cli import encoder_options, options
from recallbench.cli.command import PATH, Whole, argument, command, flag, former, option, typed
from recallbench.cli.printing import show
from recallbench.cli.server_option import DSN
from recallbench.cli.typed_command import typed_command
from recallbench.errors import UsageError
from recallbench.escaping.terminal import visible
from recallbench.interruption import InterruptedWithResult
from recallbench.reports.printing.printed import Format, Printed
from recallbench.reports.table import Table
from recallbench.scoring.depth import DEEPEST

if TYPE_CHECKING:
    from recallbench.corpora.labelled_sets.label_book import LabelBook, UnlabelledQuery
    from recallbench.reports.printing.conclusion import Conclusion

KEYS = (
    "y relevant, n not, 0-9 a grade, a none of the rest, + add a document, u undo, m more of the text, s skip this "
    "query, q stop"
)


@command(
    argument("folder", "A folder with corpus.jsonl; labels go to its gold.jsonl.", metavar="DIR", type=PATH),
    option("queries", "Queries to label: a text file, or JSON lines [default: DIR/queries.jsonl].", type=PATH),
    option("query", "A query to label; repeat it for several.", multiple=True),
    option(
        "import",
        "Take questions with what answers them from a CSV, TSV or JSONL file, and ask nothing: columns question; "
        "relevant (ids) or answer, the text that a document must say (`expected` in gold.jsonl); kind, scope, tenant "
        "and id. Beside a column expected, answer is what a pipeline that answers is judged by.",
        "import_",
        type=PATH,
    ),
    flag("replace", "With --import: let a row take the place of the label that its question has; else it is refused."),
    option("scope", "The scope (or tenant) of queries that name none, where documents have scopes."),
    option("proposals", "How many documents are put forward for each query.", type=Whole(1, DEEPEST), default=10),
    former("k", "proposals", type=Whole(1, DEEPEST)),
    option("store", "The store that puts documents forward.", default="bm25"),
    DSN,
    encoder_options.EMBEDDER,
    encoder_options.MAX_TOKENS,
    encoder_options.BACKEND,
    *options.of_stores(),
    *options.GENERAL,
    epilog=f"Keys: {KEYS}. On a terminal a key needs no Enter. Stop and go on at any time: the labels of a query that "
    "is not finished wait in DIR/gold.jsonl.begun, which no evaluation reads. Examples: recallbench label team; "
    "recallbench label team --import questions.csv.",
)
def label(
    folder: Path,
    queries: Path | None,
    query: tuple[str, ...],
    import_: Path | None,
    replace: bool,
    scope: str | None,
    proposals: int,
    format: Format,
    quiet: bool,
    **of_run: Any,
) -> int:
    """Put documents forward for each query, and save the label (y, n or a grade) of each key at once."""
    from recallbench.corpora.labelled_sets.label_book import LabelBook

    book = LabelBook(folder)
    book.refuse_other_labels()
    if cut := book.mend():
        warning = f"the last line of {book.path} was cut off: set aside in {cut}, and its query is asked again"
        print(f"recallbench: {visible(warning)}", file=sys.stderr)
    if import_ is not None:
        if unfitting := typed("queries", "query", "proposals", "store"):
            raise UsageError(f"{unfitting} is not for --import", expected="--import FILE alone", found=unfitting)
        show(_import(book, import_, scope or "", replace=replace), format)
        return 0
    if typed("replace"):
        raise UsageError("--replace is for --import", expected="--import FILE --replace", found="no --import")
    show(_label(book, _named(book, queries, query, scope or ""), proposals, format, quiet, of_run), format)
    return 0


def _named(book: LabelBook, file: Path | None, texts: tuple[str, ...], scope: str) -> list[UnlabelledQuery]:
    """Return all queries that were named, whether they have their label or not."""
    from recallbench.corpora.labelled_sets.label_book import UnlabelledQuery, queries_to_label

    every = [UnlabelledQuery("", text) for text in texts] or queries_to_label(book.folder, file)
    return [each if each.scope or each.tenant else replace(each, scope=scope) for each in every]


def _label(
    book: LabelBook,
    named: list[UnlabelledQuery],
    most: int,
    format: Format,
    quiet: bool,
    of_run: dict[str, Any],
) -> Printed:
    from recallbench.cli.bars import listener
    from recallbench.cli.own_data.dialogue import Dialogue
    from recallbench.cli.own_data.keyboard import Keyboard
    from recallbench.corpora.labelled_sets.begun_labels import BegunLabels
    from recallbench.corpora.labelled_sets.set_name import SetName, folder_word
    from recallbench.corpora.labelled_sets.waiting_queries import waiting_queries
    from recallbench.reports.conclusions.labelling import interrupted, labelled
    from recallbench.studies.logs.labelling import Labelling
    from recallbench.studies.logs.proposals import propose
    from recallbench.studies.logs.shelf import Shelf

    before = book.records()
    left, labelled_before, otherwise = waiting_queries(named, before)
    done, every = len(labelled_before), len(left) + len(labelled_before)
    for asked, words in otherwise:
        warning = f"{asked.id} is labelled as {words!r}, so {asked.text!r} is not asked: give it an id of its own"
        print(f"recallbench: {visible(warning)}", file=sys.stderr)
    print(f"{done} of {every} queries are labelled; {KEYS}", file=sys.stderr)
    shelf = Shelf.read(book.folder)
    proposing = options.run_options(corpus=str(SetName(folder_word(book.folder.name), "0" * 64)), **of_run)
    begun = BegunLabels(book.folder)
    for each in labelled_before:
        begun.keep(each, {})
    labellings: list[Labelling] = []

    def saved() -> list[Labelling]:
        return [labelling for labelling in labellings if labelling.saved]

    def told() -> Conclusion:
        now = len(saved())
        waiting = {each.text for each in left} - {each.query.text for each in saved()}
        half = sum(bool(labelling.grades) and not labelling.saved for labelling in labellings)
        again = typed_command().with_values("--query", waiting).again()
        return labelled(str(book.folder), str(book.path), now, len(before) + now, len(left) - now, half, again)

    try:
        proposed = propose(shelf, left, proposing, most, listener(quiet)) if left else []
        labellings += [Labelling(each, documents) for each, documents in zip(left, proposed, strict=True)]
        for new in labellings:
            graded = begun.of(new.query).items()
            new.resume([(found, grade) for id, grade in graded if (found := shelf.named(new.query, id))])
        # What machines read is alone on stdout.
        stream = sys.stdout if format == "text" else sys.stderr
        with Keyboard(stream).opened() as keyboard:
            Dialogue(book, begun, shelf, labellings, done, keyboard, stream, date.today()).hold()
    except KeyboardInterrupt as error:
        lost = "" if labellings else "vectors that were computed are kept"
        raise InterruptedWithResult(str(interrupted(told(), len(before) + len(saved()), lost))) from error
    sheet = Table(
        ("query", "relevant", "judged"),
        [(each.query.text, str(each.relevant), str(each.place)) for each in saved()],
        caption="Queries that were labelled",
    )
    labels = [each.saved for each in saved()]
    document = {"book": str(book.path), "labelled": labels, "left": len(left) - len(labels)}
    return Printed("Labels", [] if format == "text" else [sheet], document, told(), own_sheet=sheet)


def _import(book: LabelBook, file: Path, scope: str, *, replace: bool) -> Printed:
    from recallbench.corpora.labelled_sets.label_import import read_import
    from recallbench.reports.conclusions.labelling import imported
    from recallbench.studies.logs.shelf import Shelf

    segments = Shelf.read(book.folder).segments
    documents = {place: {segment.session for segment in there} for place, there in segments.items()}
    found = read_import(file, documents, book, date.today(), scope, replace=replace)
    book.add_all(found.records.values(), found.replaced)
    taken = {**found.records, **found.replaced}
    told = imported(
        str(book.folder),
        str(book.path),
        str(file),
        len(found.records),
        len(found.replaced),
        found.skipped,
        found.judged,
        len(found.passed_over),
    )
    lines = [f"column passed over: {name}" for name in found.passed_over]
    sheet = Table(
        ("id", "question", "relevant", "answer"),
        [
            (
                str(record.get("query_id", id)),
                str(record["query"]),
                "; ".join(map(str, relevant)) if isinstance(relevant := record.get("relevant"), (list, dict)) else "",
                str(record.get("expected", "")),
            )
            for id, record in taken.items()
        ],
        caption="Questions that were taken",
    )
    document = {
        "book": str(book.path),
        "file": str(file),
        "imported": list(found.records),
        "replaced": [record.get("query_id", id) for id, record in found.replaced.items()],
        "skipped": found.skipped,
        "judged": found.judged,
        "expecting": found.expecting,
        "passed_over": list(found.passed_over),
    }
    return Printed("Questions that were taken", lines, document, told, own_sheet=sheet)
