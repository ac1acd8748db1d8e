"""How the writing of pages ends."""

from __future__ import annotations

from recallbench.reports.conclusions.pages import WrittenPage, conclude_pages

ONE = WrittenPage("r a", "r a.html", unchanged=True, texts=False)
SHOWN = WrittenPage("b", "b.html", unchanged=True, texts=True)
EDITED = WrittenPage("c", "c.html", unchanged=False, texts=True)


def test_one_page() -> None:
    told = conclude_pages([ONE])
    assert str(told) == (
        "The page of r a is written: what was found, kind by kind, and what was missed; each file is as the manifest "
        "says; next: open 'r a.html'"
    )
    assert told.tone == "good"


def test_several_pages() -> None:
    assert str(conclude_pages([ONE, ONE])) == (
        "2 pages are written, one for each result; each file is as the manifest says; next: open 'r a.html'"
    )


def test_texts_that_were_asked_for() -> None:
    told = conclude_pages([ONE], with_text=True)
    assert (told.belief, told.tone) == ("it has no texts: a run keeps them with --with-text alone", "open")
    told = conclude_pages([ONE, SHOWN], with_text=True)
    assert told.belief == "it shows texts, which their licence may not let you publish"


def test_a_folder_that_was_edited() -> None:
    told = conclude_pages([SHOWN, EDITED], with_text=True)
    assert (told.belief, told.next, told.tone) == (
        "c is not as its manifest says, so its figures may not be",
        "recallbench audit c",
        "bad",
    )
