"""Links of the documents resolve, files that they name exist, nothing of one machine stands there."""

from __future__ import annotations

import re
from pathlib import Path

from documents.markdown import ROOT, each_document, prose, slugs, spans


@each_document
def test_links_resolve(document: Path) -> None:
    text = document.read_text("utf-8")
    wrong = []
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(text)):
        if target.startswith("https://"):
            continue
        path, _, anchor = target.partition("#")
        linked = document.parent / path if path else document
        if not linked.exists() or (anchor and anchor not in slugs(linked.read_text("utf-8"))):
            wrong.append(target)
    assert not wrong


@each_document
def test_files_that_are_named_exist(document: Path) -> None:
    named = [
        span for span in spans(document.read_text("utf-8")) if re.match(r"(src|tests|scripts|\.ci)/[\w./-]+$", span)
    ]
    named += [span for span in spans(document.read_text("utf-8")) if re.match(r"benchmarks/[\w./-]+\w$", span)]
    published = {rule for rule in named if rule == "benchmarks/PROTOCOL.md"}  # also the name of a file elsewhere
    assert [name for name in named if name not in published and not (ROOT / name).exists()] == []


@each_document
def test_nothing_of_one_machine_stands_there(document: Path) -> None:
    assert re.findall(r"(?<![\w.])/(?:tmp|home|root|work|Users)/\S*", document.read_text("utf-8")) == []
