"""The list of parts and the page of licences: of what is pinned, valid, always the same, and current."""

from __future__ import annotations

import json
from email.message import Message
from pathlib import Path
from typing import Any

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from make_sbom import (
    CORE,
    DEVELOPMENT,
    ELSEWHERE,
    PAGE,
    SBOM,
    Part,
    Unknown,
    files,
    licence,
    page,
    pinned,
    reached,
    sbom,
)

ROOT = Path(__file__).resolve().parents[1]
TINY = [
    Part("alpha", "1.0", "MIT", (CORE,), ("beta",)),
    Part("beta", "2.0", "Apache-2.0 OR MIT", ("attest", "embed"), ()),
    Part("gamma", "3.0", "MIT", (DEVELOPMENT,), ()),
    Part("delta", "4.0", "ISC", (ELSEWHERE,), ()),
]


@pytest.fixture(scope="module")
def made() -> dict[str, str]:
    try:
        return files()
    except Unknown as reason:
        pytest.skip(f"the lists can't be made here: {reason}")


def test_the_committed_files_are_current(made: dict[str, str]) -> None:
    old = [name for name, text in made.items() if (ROOT / name).read_text("utf-8") != text]
    assert old == [], "run .venv/bin/python scripts/make_sbom.py"


def test_the_committed_list_is_valid_and_has_every_pin() -> None:
    text = (ROOT / SBOM).read_text("utf-8")
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None
    listed = json.loads(text)
    pins = pinned((ROOT / "constraints.txt").read_text("utf-8"))
    pins |= pinned((ROOT / "requirements-weights.txt").read_text("utf-8"))
    assert {one["name"]: one["version"] for one in listed["components"]} == pins
    assert [one["name"] for one in listed["components"] if not one["licenses"]] == []
    assert "timestamp" not in listed["metadata"]
    rows = [line.split(" | ")[0].removeprefix("| ") for line in (ROOT / PAGE).read_text("utf-8").splitlines()]
    assert [name for name in pins if name not in rows] == []


def test_a_list_of_parts_says_who_needs_what() -> None:
    listed: dict[str, Any] = json.loads(sbom(TINY, "0.1.0", ["alpha"]))
    assert {one["name"]: one["scope"] for one in listed["components"]} == {
        "alpha": "required",
        "beta": "optional",
        "gamma": "excluded",
        "delta": "optional",
    }
    assert listed["components"][1]["licenses"] == [{"expression": "Apache-2.0 OR MIT"}]
    assert {one["ref"]: one.get("dependsOn", []) for one in listed["dependencies"]} == {
        "pkg:pypi/recallbench@0.1.0": ["pkg:pypi/alpha@1.0"],
        "pkg:pypi/alpha@1.0": ["pkg:pypi/beta@2.0"],
        "pkg:pypi/beta@2.0": [],
        "pkg:pypi/gamma@3.0": [],
        "pkg:pypi/delta@4.0": [],
    }


def test_its_number_follows_from_its_content() -> None:
    once, again, other = (
        sbom(parts, version, ["alpha"])
        for parts, version in ((TINY, "0.1.0"), (reversed(TINY), "0.1.0"), (TINY, "0.2.0"))
    )
    assert once == again
    assert json.loads(once)["serialNumber"] != json.loads(other)["serialNumber"]


def test_the_page_gathers_licences() -> None:
    text = page(TINY)
    assert "are the 4 packages that" in text
    assert "| MIT | alpha, gamma |\n" in text
    assert "| beta | 2.0 | Apache-2.0 OR MIT | attest, embed |  |\n" in text


def test_what_is_needed_on_any_platform_is_reached_and_an_extra_only_where_it_is_asked_for() -> None:
    requirements = {
        "a": ("b; sys_platform == 'win32'", "c; extra == 'more'", "d; python_version < '3'"),
        "b": ("e[fine]",),
        "e": ("f; extra == 'fine'", "g; extra == 'coarse'"),
    }
    assert reached(["a"], requirements) == {"a", "b", "e", "f"}
    assert reached(["A[more]"], requirements) == {"a", "b", "c", "e", "f"}


@pytest.mark.parametrize(
    ("stated", "spdx"),
    [
        ([("License-Expression", "MIT OR Apache-2.0"), ("License", "whatever")], "MIT OR Apache-2.0"),
        ([("License", "Apache 2.0")], "Apache-2.0"),
        ([("License", "See the file"), ("Classifier", "License :: OSI Approved :: MIT License")], "MIT"),
    ],
)
def test_a_licence_is_told_in_spdx(stated: list[tuple[str, str]], spdx: str) -> None:
    assert licence("alpha", metadata(stated)) == spdx


@pytest.mark.parametrize("stated", [[], [("Classifier", "License :: OSI Approved :: BSD License")]])
def test_a_licence_that_is_not_told_is_not_guessed(stated: list[tuple[str, str]]) -> None:
    with pytest.raises(Unknown, match="alpha states no licence that SPDX knows"):
        licence("alpha", metadata(stated))


def metadata(fields: list[tuple[str, str]]) -> Message:
    made = Message()
    for name, value in fields:
        made[name] = value
    return made
