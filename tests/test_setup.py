"""scripts/setup installs only files with the sha256 of the lists; the lists agree with pyproject.toml."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sysconfig
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tiny_wheels import write_wheel

ROOT = Path(__file__).resolve().parents[1]
LISTS = ("requirements.txt", "requirements-dev.txt")
WEIGHTS = "requirements-weights.txt"
"""Packages whose data files alone are wanted; nothing of them is a dependency."""
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def pins(name: str) -> dict[Requirement, list[str]]:
    """The requirements of a list, each with its hashes."""
    lines = [line for line in (ROOT / name).read_text("utf-8").splitlines() if not line.startswith("#")]
    entries = "\n".join(lines).replace(" \\\n", " ").splitlines()
    return {Requirement(first): hashes for first, *hashes in (re.split(r"\s+--hash=", entry) for entry in entries)}


@pytest.mark.parametrize(("name", "fewest"), [(LISTS[0], 40), (LISTS[1], 40), (WEIGHTS, 1)])
def test_a_list_pins_every_package_and_holds_its_hashes(name: str, fewest: int) -> None:
    pinned = pins(name)
    assert len(pinned) >= fewest
    for requirement, hashes in pinned.items():
        assert re.fullmatch(r"==[^=*,]+", str(requirement.specifier)), requirement
        assert hashes
        assert [digest for digest in hashes if not re.fullmatch(r"sha256:[0-9a-f]{64}", digest)] == [], requirement


@pytest.mark.parametrize("name", [*LISTS, WEIGHTS])
def test_a_list_names_no_registry_and_nothing_of_torch_own(name: str) -> None:
    assert not re.search(r"://|--(extra-)?index|--find-links|@ ", (ROOT / name).read_text("utf-8"))
    own = re.compile(r"torch|triton|cuda-.*|nvidia-.*")
    assert [str(pin) for pin in pins(name) if own.fullmatch(canonicalize_name(pin.name))] == []


@pytest.mark.parametrize("name", LISTS)
def test_a_list_is_what_pyproject_asks_for(name: str) -> None:
    extras = PROJECT["project"]["optional-dependencies"]
    needed = [*PROJECT["project"]["dependencies"], *PROJECT["build-system"]["requires"]]
    if name != LISTS[0]:
        needed += [requirement for extra in extras.values() for requirement in extra]
    listed = {
        canonicalize_name(pin.name): pin
        for each in LISTS[: LISTS.index(name) + 1]
        for pin in reversed(list(pins(each)))
    }
    for requirement in map(Requirement, needed):
        if requirement.name in ("torch", "recallbench"):
            continue
        (pinned,) = listed[canonicalize_name(requirement.name)].specifier
        assert requirement.specifier.contains(pinned.version), requirement


def test_constraints_are_the_versions_of_the_lists_and_of_torch() -> None:
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    torch = re.findall(r"^torch=(torch==\S+)$", (ROOT / "scripts/setup").read_text("utf-8"), re.MULTILINE)
    pinned = {str(pin) for name in LISTS for pin in pins(name)} | set(torch)
    assert {str(Requirement(line)) for line in lines if not line.startswith("#")} == pinned


def test_what_users_install_has_no_exact_pin() -> None:
    extras = PROJECT["project"]["optional-dependencies"]
    asked = [
        *PROJECT["project"]["dependencies"],
        *(entry for name in extras if name != "dev" for entry in extras[name]),
    ]
    assert [entry for entry in asked if "==" in entry] == []


def test_the_torch_that_setup_installs_is_one_that_pyproject_asks_for() -> None:
    (version,) = re.findall(r"^torch=torch==(\S+)$", (ROOT / "scripts/setup").read_text("utf-8"), re.MULTILINE)
    (torch,) = (entry for entry in PROJECT["project"]["optional-dependencies"]["embed"] if entry.startswith("torch"))
    assert Requirement(torch).specifier.contains(version)


BACKEND = """
from pathlib import Path
from zipfile import ZipFile

META = {
    "METADATA": "Metadata-Version: 2.1\\nName: recallbench\\nVersion: 0\\n",
    "WHEEL": "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
    "RECORD": "",
}

def build_editable(folder, config_settings=None, metadata_directory=None):
    with ZipFile(Path(folder, "recallbench-0-py3-none-any.whl"), "w") as wheel:
        for name, text in META.items():
            wheel.writestr(f"recallbench-0.dist-info/{name}", text)
    return "recallbench-0-py3-none-any.whl"
"""


def write_module(folder: Path, name: str, version: str, text: str = "", needs: str = "") -> str:
    """Write a wheel of one module and return its sha256."""
    return write_wheel(folder, name, version, {f"{name}.py": text.encode()}, needs)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout whose packages are tiny, with the script as it is."""
    (tmp_path / "scripts").mkdir()
    shutil.copy(ROOT / "scripts" / "setup", tmp_path / "scripts")
    (tmp_path / "wheels").mkdir()
    write_module(tmp_path / "wheels", "torch", "2.13.0")
    (tmp_path / "backend.py").write_text(BACKEND)
    (tmp_path / "pyproject.toml").write_text(
        '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n\n[project]\n'
        'name = "recallbench"\nversion = "0"\n'
    )
    (tmp_path / "requirements-dev.txt").write_text("")
    return tmp_path


def setup(checkout: Path) -> subprocess.CompletedProcess[str]:
    """scripts/setup, which finds packages in the folder of wheels alone."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}
    offline = {"PIP_CONFIG_FILE": os.devnull, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(checkout / "wheels")}
    done = subprocess.run(
        [checkout / "scripts" / "setup"], env=inherited | offline, capture_output=True, text=True, check=False
    )
    print(f"{done.stdout}{done.stderr}[exit {done.returncode}]")
    return done


@pytest.mark.marked
def test_a_package_of_another_hash_stops_the_setup(checkout: Path) -> None:
    honest = write_module(checkout / "wheels", "tiny", "1.0", "honest = True")
    (checkout / "requirements.txt").write_text(f"tiny==1.0 --hash=sha256:{honest}\n")
    forged = write_module(checkout / "wheels", "tiny", "1.0", "honest = False")
    done = setup(checkout)
    assert done.returncode == 3
    assert f"Expected sha256 {honest}" in done.stderr
    assert f"Got        {forged}" in done.stderr
    assert "what was fetched is not what requirements.txt records" in done.stderr
    assert "torch==2.13.0 is held to its version, not to a hash" in done.stderr
    assert not list(checkout.glob(".venv/lib/*/site-packages/tiny.py"))
    # A package that the list names without a hash is not installed either.
    (checkout / "requirements.txt").write_text("tiny==1.0\n")
    done = setup(checkout)
    assert done.returncode == 3
    assert "Hashes are required" in done.stderr
    # With the honest wheel it goes on where it stopped; then there is nothing to do.
    write_module(checkout / "wheels", "tiny", "1.0", "honest = True")
    (checkout / "requirements.txt").write_text(f"tiny==1.0 --hash=sha256:{honest}\n")
    assert setup(checkout).returncode == 0
    (installed,) = checkout.glob(".venv/lib/*/site-packages/tiny.py")
    assert installed.read_text() == "honest = True"
    assert setup(checkout).stderr == ""


@pytest.mark.marked
def test_the_lists_are_made_anew_by_one_script(tmp_path: Path) -> None:
    (tmp_path / "scripts").mkdir()
    for script in ("pin", "setup"):
        shutil.copy(ROOT / "scripts" / script, tmp_path / "scripts")
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / ".venv" / "bin" / "uv").symlink_to(shutil.which("uv", path=sysconfig.get_path("scripts")) or "missing")
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    hashes = {
        f"{name}=={version}": write_module(wheels, name, version, needs=needs)
        for name, version, needs in (
            ("torch", "2.13.0", "nvidia-tiny==1; sys_platform == 'linux'"),
            ("nvidia_tiny", "1", ""),
            ("builder", "3", ""),
            ("tiny", "1.0", "deep; python_version < '3.12'"),
            ("deep", "1", ""),
            ("checker", "1", "tiny"),
        )
    }
    (tmp_path / "pyproject.toml").write_text(
        '[build-system]\nrequires = ["builder==3"]\n\n[project]\nname = "recallbench"\nversion = "0"\n'
        'requires-python = ">=3.11"\ndependencies = ["tiny>=1"]\n[project.optional-dependencies]\n'
        'embed = ["torch>=2.13"]\npostgres = []\ndev = ["checker", "recallbench[embed]"]\n'
    )

    def pin(*arguments: str) -> tuple[str, ...]:
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("UV_")}
        env = inherited | {"UV_NO_INDEX": "1", "UV_FIND_LINKS": str(wheels), "UV_CACHE_DIR": str(tmp_path / "cache")}
        command = [tmp_path / "scripts" / "pin", *arguments]
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        lists = [(tmp_path / name).read_text().splitlines() for name in LISTS]
        return tuple("\n".join(line for line in lines if not line.startswith("#")) for lines in lists)

    def entry(pin: str, marker: str = "") -> str:
        return f"{pin}{marker} \\\n    --hash=sha256:{hashes[pin]}"

    deep = entry("deep==1", " ; python_full_version < '3.12'")
    run, dev = pin()
    assert run == "\n".join((entry("builder==3"), deep, entry("tiny==1.0")))
    assert dev == entry("checker==1")
    # A pinned version stays until an upgrade is asked for.
    hashes["tiny==1.1"] = write_module(wheels, "tiny", "1.1")
    assert pin() == (run, dev)
    assert pin("--upgrade") == ("\n".join((entry("builder==3"), entry("tiny==1.1"))), dev)
