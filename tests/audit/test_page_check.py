"""A page of another release may be worded otherwise, but has the same figures and nothing that speaks otherwise."""

from __future__ import annotations

from hashlib import sha256

import pytest

from recallbench.audit.checks.page import differing_lines, differing_words
from recallbench.audit.checks.report import _differing_figures, _excerpts
from recallbench.reports.page import STYLE, STYLES, Page
from recallbench.reports.result_page import FILTER, SCRIPTS
from recallbench.reports.stages.flow import FLOW_STYLE

BODY = ["<h2>By kind</h2>", "<p>pgvector finds 97.4% of 1,982, not CANONICAL.</p>", "<svg><text>0.5</text></svg>"]
PAGE = Page("locomo", BODY, FILTER).html()
CHANGES = {
    "figure": ("97.4%", "98.4%"),
    "verdict": ("not CANONICAL", "CANONICAL"),
    "figure in a drawing": ("0.5", "0.6"),
    "style": ("</style>", "p::after { content: '99%' }</style>"),
    "script": ("filter();\n</script>", "alert(1);\n</script>"),
    "request": ("<p>", '<p style="background: url(x)">'),
    "picture": ("<h2>", "<img><h2>"),
    "picture in a drawing": ("<svg>", "<svg><image/>"),
    "refresh": ("<main>", '<meta http-equiv="refresh" content="0"><main>'),
    "handler": ("<main>", '<main onclick="x">'),
    "policy": ("default-src 'none'", "default-src *"),
    "hidden": ("<p>", "<p hidden>"),
    "comment": ("<main>", "<!-- x --><main>"),
}


def words(stated: str) -> list[str]:
    return list(differing_words(stated, PAGE, _differing_figures))


def test_the_style_and_the_script_of_this_release_are_known() -> None:
    """Whoever changes one adds its hash, so that the pages of results that are there stay what they are."""
    for style in (STYLE, STYLE + FLOW_STYLE):
        assert sha256(style.encode()).hexdigest() in STYLES
    assert sha256(FILTER.encode()).hexdigest() in SCRIPTS


def test_other_words_and_order_of_markup_are_another_release_s_right() -> None:
    assert words(PAGE) == []
    assert words(PAGE.replace("pgvector finds", "<em>pgvector</em> gets")) == []
    assert words(PAGE.replace("<main>", "<main><div>").replace("</main>", "</div></main>")) == []
    (line,) = differing_lines(PAGE.replace("finds", "gets"), PAGE, _excerpts)
    assert "“" in line


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_what_another_release_may_not_have(change: tuple[str, str]) -> None:
    forged = PAGE.replace(*change)
    assert forged != PAGE
    assert words(forged) != []
