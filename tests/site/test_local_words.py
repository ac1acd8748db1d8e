"""Words for a page that anybody may read."""

from __future__ import annotations

import pytest

from recallbench.site.local_words import command_line, publishable, without_places


@pytest.mark.parametrize(
    ("text", "published"),
    [
        ("/home/ada/results/exact is not whole", "exact is not whole"),
        ("path:/home/ada/models/mini and ~/notes/a.txt", "path:mini and a.txt"),
        ("--folder=/tmp/x/y", "--folder=y"),
        ("'/tmp/x/y': gone", "'y': gone"),
        ("file:///home/ada/x.json", "x.json"),
        ("http://127.0.0.1:8900/search", "http://127.0.0.1:8900/search"),
        ("recallbench-exact/1, 3/4 of them", "recallbench-exact/1, 3/4 of them"),
        ("postgresql://ada:secret@db/memory", "postgresql://***@db/memory"),
        ("results/exact", "results/exact"),
        ("/", "/"),
    ],
)
def test_an_absolute_path_is_its_last_name_and_no_address_has_a_login(text: str, published: str) -> None:
    assert publishable(text) == published


def test_a_command_is_quoted_as_a_shell_reads_it() -> None:
    words = ["recallbench", "run", "locomo", "--folder", "/data/my results/a b", "--set", "x=1"]
    assert command_line({"command": words}) == "recallbench run locomo --folder 'a b' --set x=1"
    for nothing in ({}, {"command": []}, {"command": "rm -rf"}, None):
        assert command_line(nothing) == ""


def test_texts_are_published_wherever_they_stand_in_a_document() -> None:
    stated = {"failure": "/tmp/a/b.py failed", "points": [{"n": 1, "why": ("in /opt/c",)}], "none": None}
    assert without_places(stated) == {"failure": "b.py failed", "points": [{"n": 1, "why": ["in c"]}], "none": None}
