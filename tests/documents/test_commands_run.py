"""Every command of the README, the guides and the benchmarks is executed, in order, but for a list with reasons."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from pathlib import Path

import pytest

from commandline import recallbench
from documents.left_out import (
    CANONICAL,
    EASED,
    ELSEWHERE,
    HUB,
    INSTEAD,
    LEFT_OUT,
    MIRRORED,
    ONLY,
    OTHERWISE,
    WEIGHTS,
    as_executed,
    reason,
    weights_of,
)
from documents.markdown import ROOT
from documents.readers import READERS, Reader
from documents.shell_blocks import Line, run_commands, sections
from documents.surroundings import ONLINE, surrounded
from loopback_hub import LoopbackHub
from recallbench.corpora.registry import facts
from recallbench.protocol.frozen import load

NOWHERE = "http://127.0.0.1:9"
UNREACHABLE = {
    "RECALLBENCH_LOCOMO_URL": f"{NOWHERE}/locomo10.json",
    "HF_ENDPOINT": NOWHERE,
    "PGMNEMO_DSN": "postgresql://127.0.0.1:9/none",
}
GUIDES = [
    str(path.relative_to(ROOT))
    for pattern in ("README.md", "docs/*.md", "benchmarks/*.md", "benchmarks/*/*.md")
    for path in sorted(ROOT.glob(pattern))
    if not path.is_symlink()  # read where it lies
]


def every_line() -> list[tuple[str, Line]]:
    """All commands of all guides, each with its guide."""
    parts = ((guide, part) for guide in GUIDES for part in sections((ROOT / guide).read_text("utf-8")))
    return [(guide, line) for guide, part in parts for line in part.commands]


def executed(guide: str, heavy: bool, weights: Collection[str] = ()) -> list[Line]:
    """The commands of a guide that a test executes with these weights; without `heavy` those of its light sections."""
    parts = sections((ROOT / guide).read_text("utf-8"))
    whole = heavy or READERS.get(guide, Reader()).marked
    lines = [line for part in parts if whole or not part.heavy for line in part.commands]
    return [as_executed(line) for line in lines if reason(line) is None and weights_of(line) <= {*weights}]


def with_commands(heavy: bool) -> Iterator[str]:
    """The guides that have such commands, those of tests of their own left out."""
    for guide in GUIDES:
        if guide in ELSEWHERE:
            continue
        light = [] if READERS.get(guide, Reader()).marked else executed(guide, heavy=False)
        if light if not heavy else len(executed(guide, heavy=True, weights=WEIGHTS)) > len(light):
            yield guide


def execute(guide: str, lines: list[Line], folder: Path, env: dict[str, str]) -> None:
    reader = READERS.get(guide, Reader())
    reader.sit_down((ROOT / guide).read_text("utf-8"), folder)
    home = {"HOME": str(folder / "home")} if reader.home else {}
    with surrounded(lines, folder) as (commands, servers):
        done = run_commands(commands, folder, {**reader.settings, **env, **servers, **home})
    assert done.returncode == 0, done.stderr[-3000:]


@pytest.mark.parametrize("guide", [*with_commands(heavy=False)])
def test_commands_run(guide: str, tmp_path: Path) -> None:
    execute(guide, executed(guide, heavy=False), tmp_path, {})


@pytest.mark.marked
@pytest.mark.real_data
@pytest.mark.parametrize("guide", [*with_commands(heavy=True)])
def test_commands_run_on_real_corpora(
    guide: str,
    tmp_path: Path,
    request: pytest.FixtureRequest,
    locomo_vectors: dict[str, str],
    longmemeval_file: Path,
    realtalk_folder: Path,
    realmem_folder: Path,
    beam_100k_folder: Path,
) -> None:
    env = locomo_vectors | {
        "LONGMEMEVAL_DATA_DIR": str(longmemeval_file),
        "RECALLBENCH_ALLOW_DEVIATION": "dataset",  # one of its items is missing
        "REALTALK_DATA_DIR": str(realtalk_folder),
        "REALMEM_DATA_DIR": str(realmem_folder),
        "BEAM_DATA_DIR": str(beam_100k_folder),
    }
    (tmp_path / "locomo10.json").symlink_to(Path(locomo_vectors["LOCOMO_DATA_DIR"]) / "locomo10.json")
    (tmp_path / "longmemeval_s_cleaned.json").symlink_to(longmemeval_file)
    commands = executed(guide, heavy=True)
    if commands != executed(guide, heavy=True, weights=WEIGHTS):
        commands = executed(guide, heavy=True, weights=request.getfixturevalue("weights"))
        env |= ONLINE
    execute(guide, commands, tmp_path, env)


@pytest.mark.marked
@pytest.mark.real_data
@pytest.mark.parametrize("encoder", WEIGHTS)
def test_commands_that_need_weights_were_executed(encoder: str, weights: frozenset[str]) -> None:
    """They are among those of the test before; where that could not be, this one is skipped and says so."""
    needing = sorted({line.command for _, line in every_line() if encoder in weights_of(line) and reason(line) is None})
    assert needing
    heavy = {line for guide in with_commands(heavy=True) for line in executed(guide, heavy=True, weights=WEIGHTS)}
    assert {as_executed(Line(command, 0)).command for command in needing} <= {line.command for line in heavy}
    if encoder not in weights:
        pytest.skip(
            f"the weights of {encoder} are not to be had here, so these were not executed: {'; '.join(needing)}"
        )


@pytest.mark.marked
@pytest.mark.real_data
def test_corpora_are_fetched_from_a_mirror(
    tmp_path: Path, locomo_file: Path, realtalk_folder: Path, realmem_folder: Path, beam_100k_folder: Path
) -> None:
    served = {"/locomo10.json": locomo_file.read_bytes()}
    for name, folder in (("realtalk", realtalk_folder), ("realmem", realmem_folder), ("beam-100k", beam_100k_folder)):
        known = facts(name, load())
        files = [path for path in folder.rglob("*") if path.is_file()]
        served |= {f"/{known.source}/{known.revision}/{path.relative_to(folder)}": path.read_bytes() for path in files}
    fetches = sorted({line.command for _, line in every_line() if re.fullmatch(MIRRORED, line.command)})
    assert len(fetches) == 5
    with LoopbackHub(served) as mirror:
        env = {
            "HF_HUB_OFFLINE": "0",
            "RECALLBENCH_LOCOMO_URL": f"{mirror.url}/locomo10.json",
            "RECALLBENCH_RAW_FILES_URL": mirror.url,
            "RECALLBENCH_DATA_DIR": str(tmp_path / "data"),
        }
        done = run_commands([Line(command, 0) for command in fetches], tmp_path, env)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "data" / "locomo10.json").read_bytes() == locomo_file.read_bytes()


def test_what_is_not_executed_as_it_stands_is_there_and_little_is_left_out() -> None:
    every = [line.command for _, line in every_line()]
    for pattern in (*LEFT_OUT, *OTHERWISE, *EASED, MIRRORED):
        assert any(re.fullmatch(pattern, command) for command in every), f"{pattern} is in no document"
    for words in (*INSTEAD, *ONLY):
        assert any(words in command for command in every), f"{words} is in no document"
    left = [line for _, line in every_line() if line.program == "recallbench" and reason(line) in LEFT_OUT.values()]
    assert len(left) < 0.05 * len(every)
    for test in (*ELSEWHERE.values(), *re.findall(r"tests/\S+\.py", " ".join(LEFT_OUT.values()))):
        assert (ROOT / test).is_file()


IMPORTING = """
import runpy, sys
sys.path.insert(0, "benchmarks/performance")
for path in sys.argv[1:]:
    runpy.run_path(path, run_name="imported")
"""


def test_programs_that_measure_can_be_imported() -> None:
    """Each that a document names; the first of them imports nearly all others."""
    named = {path for _, line in every_line() for path in re.findall(r"benchmarks/performance\S*", line.command)}
    files = [path if path.endswith(".py") else f"{path}/__main__.py" for path in sorted(named)]
    assert len(files) > 5
    assert recallbench(*files, cwd=ROOT, program=("-c", IMPORTING)).returncode == 0


@pytest.mark.parametrize(("test", "words"), [(test, words) for test, *words in OTHERWISE.values()])
def test_what_another_test_executes_is_executed_there(test: str, words: list[str]) -> None:
    path, _, name = test.partition("::")
    (body,) = re.findall(rf"^def {name}\((?:.*\n)+?(?=\n\n|\Z)", (ROOT / path).read_text("utf-8"), re.M)
    assert [word for word in words if word not in body] == []


@pytest.mark.marked
@pytest.mark.real_data
def test_what_the_hub_alone_has_is_refused_without_it(tmp_path: Path, locomo_file: Path) -> None:
    Reader().sit_down("", tmp_path)
    refused = {line.command for _, line in every_line() if reason(line) in (HUB, CANONICAL)}
    assert len(refused) > 5
    env = {"LOCOMO_DATA_DIR": str(locomo_file.parent), **UNREACHABLE}
    done = run_commands([Line(command, 3) for command in sorted(refused)], tmp_path, env)
    assert done.returncode == 0, done.stderr[-3000:]
