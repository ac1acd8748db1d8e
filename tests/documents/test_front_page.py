"""The README is short and opens with three ways to begin; every guide is in the index, and nothing stands twice."""

from __future__ import annotations

import re
from collections import Counter

from documents.markdown import GUIDES, README, blocks, prose, section
from documents.shell_blocks import sections
from recallbench.protocol.frozen import load

MOST_LINES = 150
LINES_OF_QUICK_STARTS = 45
"""What a screen shows."""
FIRST = ("My memory", "My data", "Somebody's claim")


def test_the_readme_is_short() -> None:
    assert len(README.splitlines()) <= MOST_LINES


def test_it_opens_with_what_it_is_and_three_quick_starts() -> None:
    opening, *parts = sections(README)
    said = [line for line in prose(opening.text).splitlines() if line and not line.startswith("#")]
    assert 1 <= len(re.findall(r"[.?](?:\s|$)", " ".join(said))) <= 3
    assert tuple(part.title for part in parts[:3]) == FIRST
    assert README.partition(f"\n## {parts[3].title}")[0].count("\n") <= LINES_OF_QUICK_STARTS
    for part in parts[:3]:
        assert part.commands
        assert re.search(r"\]\(docs/[\w-]+\.md\)", part.text), part.title


def test_words_are_explained_before_they_are_used() -> None:
    for word in ("pgmnemo", "CANONICAL", "LoCoMo", "protocol", "recall_any@10"):
        before, _, after = README.partition(word)
        begun = before.rpartition(". ")[2].rpartition("\n\n")[2]
        sentence = begun + word + re.split(r"(?<=\.) |\n\n", after, maxsplit=1)[0]
        assert re.search(r"\bis\b|\bcalled\b|freezes|here, version", sentence), f"{word}: {sentence}"


def test_the_benchmarks_state_the_protocols_version() -> None:
    assert f"version **{load().version}**" in section(README, "## Benchmarks")


def test_every_guide_is_in_the_index_once() -> None:
    listed = Counter(re.findall(r"\]\(([\w-]+)\.md\)", GUIDES["README"]))
    assert listed == Counter({name: 1 for name in GUIDES if name != "README"})


def test_nothing_stands_twice() -> None:
    seen = Counter(
        " ".join(paragraph.split())
        for text in (README, *GUIDES.values())
        for paragraph in prose(text).split("\n\n")
        if len(paragraph) > 150 and "|---" not in paragraph
    )
    assert [paragraph for paragraph, times in seen.items() if times > 1] == []


def test_every_guide_opens_with_a_title_and_a_sentence() -> None:
    for name, text in GUIDES.items():
        title, _, rest = text.partition("\n")
        assert title.startswith("# "), name
        opening = re.sub(r"<!--.*?-->", "", rest, flags=re.DOTALL).strip().split("\n\n")[0]
        assert re.match(r"[A-Z*`]", opening), f"{name}: {opening[:60]}"
        assert blocks(text) or name in ("README", "limits", "licences"), name
