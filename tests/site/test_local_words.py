"""Words for a page that anybody may read."""

from __future__ import annotations

from pathlib import Path

import pytest

from recallbench.site.local_words import command_line, folders_of, publishable, without_places
from recallbench.site.places import Place


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
        ("../results/exact of [a]/b", "../results/exact of [a]/b"),
        ("/srv/One Drive - Acme/Project Falcon/x.py is not whole", "x.py is not whole"),
        ("in '/srv/a, b (old)/x y.py', line 3", "in 'x y.py', line 3"),
        ("`/srv/a/b` {/srv/a/c} x|/srv/a/d “/srv/a/e” y=//srv/a/f", "`b` {c} x|d “e” y=f"),
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


def test_paths_are_names_of_settings_too_and_two_of_one_name_stay_two() -> None:
    stated = {"index = /srv/a/x.db": 1, "index = /srv/b/x.db": {"/srv/c/y": "/srv/c/y"}}
    assert without_places(stated) == {"index = x.db": 1, "index = x.db (2)": {"y": "y"}}


def test_places_stand_by_their_names_and_other_files_of_their_folders_by_theirs() -> None:
    acme = Path("/srv/One; Drive/Falcon")
    with folders_of([Place(acme / "res/bad", "result", "res/bad")]) as without_folders:
        told = f"{acme}/res/bad: {acme}/res/bad/metrics.json, {acme}/res/bad2 and {acme}; <{acme}/own (old)/x.db>"
        assert publishable(told) == "res/bad: res/bad/metrics.json, bad2 and Falcon; <own (old)/x.db>"
        page = f'<p>{acme}/res/bad</p><a href="/srv/One%3B%20Drive/Falcon/y">../srv/a</a>'
        assert without_folders(page) == '<p>res/bad</p><a href="Falcon/y">../srv/a</a>'
    assert "Drive" in publishable(f"{acme}/res")
