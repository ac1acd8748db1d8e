from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from pathlib import Path

import pytest

from recallbench.reports.versions import (
    PairPart,
    PrimaryPart,
    VersionPart,
    Versions,
    conclusion,
    markdown,
    reading,
    version_table,
)
from recallbench.reports.versions_page import printed, render
from recallbench.results.metrics import EstimatePart

SVG = "{http://www.w3.org/2000/svg}"


def measured(measure: str, name: str, value: float, band: float | None) -> PrimaryPart:
    estimate = EstimatePart(
        measure=measure,
        value=value,
        n=1982,
        low=value - 0.03,
        high=value + 0.03,
        method="t(9)",
        chance=0.4247,
        ceiling=1.0,
        saturated=0.0,
        ordered=False,
        design_effect=2.0,
    )
    return PrimaryPart(estimate=estimate, protocol_name=name, band=band)


def version(name: str, value: float | None, reason: str = "", band: float | None = 0.01) -> VersionPart:
    figures = [] if value is None else [measured("recall_any@10", "recall@10", value, band)]
    return VersionPart(
        version=name,
        status="not installed" if value is None else "measured",
        reason=reason,
        stated="" if value is None else name,
        content_sha256="",
        figures=figures,
        short_questions=0,
        verdict="UNVERIFIED",
        canonical=False,
    )


def neighbours(p: float, smallest: float, wins: int) -> PairPart:
    return PairPart(
        before="0.1",
        after="0.3",
        measure="recall_any@10",
        difference=0.0136,
        low=0.0086,
        high=0.0187,
        method="t(9)",
        p=p,
        p_holm=p,
        smallest_p=smallest,
        test="all 1,024 sign flips",
        n=1982,
        clusters=10,
        wins=wins,
        ties=1982 - wins,
        losses=0,
        detectable=0.007,
        least=0.0116,
        most=0.0146,
    )


def summary(*versions: VersionPart, pairs: tuple[PairPart, ...] = ()) -> Versions:
    return Versions(
        schema_version="1",
        recallbench_version="0",
        protocol="1.0.0",
        corpus="locomo",
        dataset_sha256="",
        embedder="minilm",
        vectors_sha256="",
        store="pgmnemo",
        server="PostgreSQL 18.4",
        pgvector="0.8.5",
        n=1982,
        clustered=True,
        bm25={"recall_any@10": 0.9642},
        deviations=["embedder: minilm instead of dragon-plus"],
        versions=list(versions),
        pairs=list(pairs),
    )


TWO = summary(version("0.1", 0.8), version("0.2", None, "it <broke> | & $x$"), version("0.3", 0.82), pairs=(
    neighbours(0.00195, 0.00195, 27),
))  # fmt: skip


class Reader(HTMLParser):
    """Tags with their attributes, and the text."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    return reader


def drawing(page: str) -> ET.Element:
    return ET.fromstring(page[page.index("<svg") : page.index("</svg>") + 6])


def test_the_page_fetches_nothing() -> None:
    page = render(TWO, {"0.1": "../0.1_20261118/report.md"})
    tags = read(page).tags
    assert not {tag for tag, _ in tags} & {"script", "link", "img", "iframe", "object", "embed", "image", "base"}
    targets = [value for _, has in tags for name, value in has.items() if name in ("href", "src", "xlink:href")]
    assert {target for target in targets if target and not target.startswith("#")} == {"../0.1_20261118/report.md"}
    assert "url(http" not in page
    assert "@import" not in page
    (policy,) = [has["content"] for tag, has in tags if tag == "meta" and "http-equiv" in has]
    assert policy == "default-src 'none'; style-src 'unsafe-inline'"


def test_colours_are_those_of_the_page_by_day_and_by_night() -> None:
    page = render(TWO, {})
    assert "prefers-color-scheme: dark" in page
    body = page[page.index("<svg") : page.index("</svg>")]
    assert re.findall(r"#[0-9a-fA-F]{6}\b", body) == []
    defined = set(re.findall(r"--(\w+):", page))
    assert set(re.findall(r"var\(--(\w+)\)", page)) <= defined
    assert {"ink", "line", "band"} <= set(re.findall(r"var\(--(\w+)\)", body))


def test_the_plot_is_described_in_words() -> None:
    page = render(TWO, {})
    svg = drawing(page)
    assert svg.get("role") == "img"
    assert svg.get("aria-labelledby") == "plot-title plot-said"
    assert svg.find(f"{SVG}title").text == "locomo: versions of pgmnemo with minilm"
    description = svg.find(f"{SVG}desc").text
    assert "0.1: recall_any@10 0.8000 (0.7700 to 0.8300); 0.2: not installed; 0.3: recall_any@10 0.8200" in description
    tags = read(page).tags
    assert ("html", {"lang": "en"}) in tags
    assert [tag for tag, _ in tags].count("caption") == 2
    assert {has["scope"] for tag, has in tags if tag == "th"} == {"col", "row"}


def test_the_plot_names_versions_measures_intervals_and_bands() -> None:
    words = " ".join("".join(text.itertext()) for text in drawing(render(TWO, {})).iter(f"{SVG}text"))
    for word in ("0.1", "0.2", "0.3", "recall_any@10", "95% interval of each value"):
        assert word in words
    assert "bounds repeats of that one version" in words
    assert "decides nothing between versions" in words
    page = read(render(TWO, {})).text
    assert "recall@10 ± 0.01." in page
    assert "BM25: recall_any@10 0.9642" in page


def test_a_corpus_without_a_band_gets_none() -> None:
    page = render(summary(version("0.1", 0.8, band=None), version("0.2", 0.9, band=None)), {})
    assert "The protocol has no band for locomo." in page
    assert "decides nothing" not in page
    assert "var(--band)" not in page[page.index("<svg") :]


def test_bands_and_intervals_are_drawn_to_scale() -> None:
    # Of the vertical extents in the drawing one interval is .06 and one band is .02: three to one.
    svg = drawing(render(TWO, {}))
    boxes = svg.iter(f"{SVG}rect")
    bands = [
        float(box.get("height")) for box in boxes if box.get("fill") == "var(--band)" and box.get("height") != "10.0"
    ]
    spans = [re.match(r"M[\d.]+,([\d.]+) V([\d.]+)", path.get("d")) for path in svg.iter(f"{SVG}path")]
    bars = [float(span[1]) - float(span[2]) for span in spans if span]
    assert len(bands) >= 2
    assert any(abs(bar / bands[0] - 3) < 0.01 for bar in bars)


def test_markup_in_a_reason_stays_text() -> None:
    page = render(TWO, {})
    assert "it &lt;broke&gt; | &amp; $x$" in page
    assert "<broke>" not in page
    assert "it &lt;broke> \\| & $x$ |" in markdown(TWO, {})
    # A name that a plotting library could take for a formula.
    odd = render(summary(version("$a_1$ <b>", 0.5)), {})
    assert "$a_1$ <b>" in "".join(drawing(odd).itertext())


def test_two_drawings_are_the_same_bytes() -> None:
    assert render(TWO, {}) == render(TWO, {})


def test_the_table_has_a_row_per_version_and_names_tests_too_small_to_show_a_difference() -> None:
    assert version_table(TWO).rows == [
        ["0.1", "0.8000", "0.7700 to 0.8300", "–"],
        ["0.2", "–", "–", "not installed: it <broke> | & $x$"],
        ["0.3", "0.8200", "0.7900 to 0.8500", "–"],
    ]
    assert not any("whatever they found" in line for line in reading(TWO))
    mute = summary(version("0.1", 0.8), version("0.3", 0.8), pairs=(neighbours(0.25, 0.25, 5),))
    assert "1 of these tests might not have come below 0.05" in reading(mute)[-1]
    equal = summary(version("0.1", 0.8), version("0.3", 0.8), pairs=(neighbours(1.0, 1.0, 0),))
    assert not any("whatever they found" in line for line in reading(equal))
    assert reading(summary(version("0.1", 0.8))) == ["Fewer than two versions were measured, so nothing is compared."]


def test_a_folder_is_linked_as_a_path_and_a_version_draws_no_line_of_its_own() -> None:
    hostile = "0.1\n\n## CANONICAL\x1b"
    single = summary(version(hostile, 0.5))
    link = 'javascript:alert(1)//"><b>)/report.md'
    page, table = render(single, {hostile: link}), markdown(single, {hostile: link})
    assert '<a href="javascript%3Aalert%281%29//%22%3E%3Cb%3E%29/report.md">' in page
    assert "(javascript%3Aalert%281%29//%22%3E%3Cb%3E%29/report.md)" in table
    assert "\x1b" not in page + table
    assert "\n## CANONICAL" not in table


RESULTS = {"0.1": Path("o/0.1"), "0.3": Path("o/0.3 b")}
COMPARE = "next: recallbench compare o/0.1 'o/0.3 b'"
BOTH = (version("0.1", 0.8), version("0.3", 0.82))


def corrected(pair: PairPart, **changes: float | int | None) -> PairPart:
    return pair.model_copy(update=changes)


@pytest.mark.parametrize(
    ("versions", "text", "tone"),
    [
        (
            TWO,
            "0.1 to 0.3 recall_any@10 +0.0136 (+0.0086 to +0.0187), p 0.0019, 1982 questions; 0.2 was not measured "
            f"(not installed); {COMPARE}",
            "open",
        ),
        (
            summary(*BOTH, pairs=(neighbours(0.01, 0.002, 27),) * 3),
            "0.1 to 0.3 recall_any@10 +0.0136 (+0.0086 to +0.0187), p 0.0100, 1982 questions, and 2 more in the table; "
            f"p is corrected for 3 tests; {COMPARE}",
            "good",
        ),
        (
            summary(*BOTH, pairs=(corrected(neighbours(0.04, 0.002, 27), p_holm=0.08),) * 2),
            "No change is shown: 0.1 to 0.3 recall_any@10 +0.0136 (+0.0086 to +0.0187), p 0.0800, 1982 "
            "questions; the interval excludes 0, yet p decides: it is corrected for 2 tests; "
            f"{COMPARE}",
            "good",
        ),
        (
            summary(*BOTH, pairs=(corrected(neighbours(0.5, 0.5, 2), low=-0.1),)),
            "No change is shown: 0.1 to 0.3 recall_any@10 +0.0136 (-0.1000 to +0.0187), p 0.5000, 1982 "
            f"questions; too few clusters differ for 1 test; {COMPARE}",
            "good",
        ),
        (
            summary(*BOTH, pairs=(corrected(neighbours(0.5, 0.002, 27), low=-0.1),)),
            "No change is shown: 0.1 to 0.3 recall_any@10 +0.0136 (-0.1000 to +0.0187), p 0.5000, 1982 "
            f"questions; one of 0.0070 is found four times in five; {COMPARE}",
            "good",
        ),
        (
            summary(*BOTH, pairs=(corrected(neighbours(1.0, 1.0, 0), low=None, difference=0.0),)),
            f"No question scores otherwise in any of 2 versions, 1982 questions; {COMPARE}",
            "good",
        ),
        (
            summary(version("0.1", 0.8), version("0.2", None, "x"), version("0.4", None, "x")),
            "Only 0.1 was measured, so nothing is compared; 0.2 was not measured (not installed), nor 1 more; next: "
            "name another version that the server offers",
            "open",
        ),
    ],
)
def test_versions_end_with_the_neighbours_that_differ(versions: Versions, text: str, tone: str) -> None:
    concluded = conclusion(versions, RESULTS)
    assert (str(concluded), concluded.tone) == (text, tone)
    assert len(text) <= 220


def test_the_line_stays_short() -> None:
    """Long names of versions, with a correction that the interval does not know."""
    names = ("0.10.1-rc.2", "0.10.1-rc.3")
    pair = corrected(neighbours(0.04, 0.002, 27), p_holm=0.08, before=names[0], after=names[1])
    versions = summary(version(names[0], 0.8), version(names[1], 0.82), pairs=(pair,) * 12)
    assert len(str(conclusion(versions, {name: Path("o") for name in names}))) <= 220


def test_a_sheet_has_each_version_with_its_difference_from_the_one_before() -> None:
    assert printed(TWO, Path("o"), RESULTS).render("csv") == (
        "version,status,measure,value,low,high,before,difference,difference low,difference high,p,p (Holm)\n"
        "0.1,measured,recall_any@10,0.8,0.77,0.8300000000000001,,,,,,\n"
        "0.2,not installed,,,,,,,,,,\n"
        "0.3,measured,recall_any@10,0.82,0.7899999999999999,0.85,0.1,0.0136,0.0086,0.0187,0.00195,0.00195\n"
    )
