"""Lists in the documents are complete."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from commandline import recallbench
from documents.markdown import CONTRIBUTING, GUIDES, README, ROOT, section
from recallbench.corpora.registry import CORPORA, facts
from recallbench.protocol.deviations import KINDS
from recallbench.protocol.frozen import load


def test_deviations_are_listed() -> None:
    told = section(GUIDES["reading-a-report"], "## The verdict on a result")
    listed = told.split("**Deviations**")[1].split(". A result")[0]
    assert re.findall(r"`(\w+)`", listed) == list(KINDS)


def test_layers_are_those_of_the_contract() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    (contract,) = (contract for contract in contracts if contract["type"] == "layers")
    layers = [name.removeprefix("recallbench.") for name in reversed(contract["layers"])]
    (drawn,) = re.findall(r"^    (corpora(?:\s+->\s+\w+)+)$", CONTRIBUTING, re.MULTILINE)
    drawn_layers = re.split(r"\s+->\s+", drawn)
    assert layers[layers.index("corpora") :] == drawn_layers
    table = re.findall(r"^\| `src/recallbench/(\w+)` \|", CONTRIBUTING, re.MULTILINE)
    assert table == ["protocol", *drawn_layers]


def test_files_of_a_result_are_listed(tmp_path: Path) -> None:
    assert recallbench("run", "canary-locomo", "--store", "bm25", "--folder", "r", cwd=tmp_path).returncode == 0
    table = section(GUIDES["reading-a-report"], "## A result folder")
    listed = re.findall(
        r"`([\w.]+\.(?:md|html|json|jsonl|trec))`", "\n".join(re.findall(r"^\| (`.+?) \|", table, re.MULTILINE))
    )
    assert sorted(listed) == sorted(path.name for path in (tmp_path / "r").iterdir())


def test_licences_and_papers_of_both_corpora_are_named(tmp_path: Path) -> None:
    listed = recallbench("corpora", cwd=tmp_path).stdout.splitlines()
    protocol = (ROOT / "PROTOCOL.md").read_text("utf-8")
    citations = [(ROOT / f"CITATION.{kind}").read_text("utf-8") for kind in ("bib", "cff")]
    for name, licence, people in (
        ("longmemeval", "MIT", "Wu Wang Yu Zhang Chang Yu"),
        ("locomo", "CC BY-NC 4.0", "Maharana Lee Tulyakov Bansal Barbieri Fang"),
    ):
        assert CORPORA[name].licence == licence
        assert any(line.split()[0] == name and licence in line for line in listed if line)
        source = next(line for line in protocol.splitlines() if f"`{facts(name, load()).source}`" in line)
        assert licence.removesuffix(" 4.0") in source  # remarks of PROTOCOL.md hold no figure
        assert licence in README
        number = facts(name, load()).paper.removeprefix("arXiv:")
        for text in citations:
            assert number in text
            assert re.search("[\\s\\S]*?".join(people.split()), text)
