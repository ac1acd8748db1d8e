"""Fixtures that every part of the suite may use."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from commandline import recallbench
from made_once import made_once
from recallbench import confidential, web_json
from zygote import QUICK_PAUSE, WANTED

# A background job of a shell is started with Ctrl-C ignored, and under nohup the end of a terminal is: both are handed
# on, and the tests that send them need them delivered.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)

# How long an example takes says how busy the machine is.
hypothesis.settings.register_profile("untimed", deadline=None)
hypothesis.settings.load_profile("untimed")


TESTS = Path(__file__).resolve().parent
CHECKOUT = TESTS.parent
SHORT_FILES = {TESTS / name for name in ("cases", "compare", "corpora", "escaping", "reports")}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put files with real corpora first, since they take longest, and of folders of short files those last that are.

    At the end one worker would else be left alone with a long one.
    """
    real, marked = ({item.path for item in items if item.get_closest_marker(name)} for name in ("real_data", "marked"))
    short = {item.path for item in items if item.path.parent in SHORT_FILES} - real - marked
    items.sort(key=lambda item: (item.path not in real, item.path in short))


def pytest_collection_finish(session: pytest.Session) -> None:
    """Say whether there are tests of the marked stage, whose commands embed."""
    if any(item.get_closest_marker("marked") for item in session.items):
        os.environ[WANTED] = "1"


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Let files that load the same go to the same worker."""
    from scheduling import ByFile

    return ByFile(config, log) if config.getvalue("dist") == "loadfile" else None


@pytest.fixture(autouse=True)
def _secrets_are_forgotten() -> Iterator[None]:
    """Forget the secrets of one test before the next."""
    yield
    confidential.forget()


PACKED = CHECKOUT.parent / "shared" / "data"
UNPACKED = CHECKOUT / ".data"


@pytest.fixture(scope="session", autouse=True)
def _servers_are_asked_again_at_once() -> Iterator[None]:
    """Let a request that failed be made once more without the pause that a real server is given."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(web_json, "FIRST_PAUSE", QUICK_PAUSE)
        yield


@pytest.fixture(scope="session", autouse=True)
def own_settings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The settings folder of a user who never ran RecallBench, for all tests and the programs they start."""
    with pytest.MonkeyPatch.context() as patched:
        folder = tmp_path_factory.mktemp("settings")
        patched.setenv("XDG_CONFIG_HOME", str(folder))
        yield folder


def real_corpus(variable: str, name: str) -> Path:
    """A real corpus file: where `variable` says, else unpacked from beside the checkout, else the test is skipped."""
    if named := os.environ.get(variable):
        for path in (Path(named), Path(named) / name, Path(named) / "data" / name):
            if path.is_file():
                return path
        pytest.fail(f"{variable} is {named}, where {name} is not")
    return _unpacked(variable, name)


def real_release(variable: str, name: str) -> Path:
    """The folder of a real corpus of many files: where `variable` says, else unpacked, else the test is skipped."""
    return Path(named) if (named := os.environ.get(variable)) else _unpacked(variable, name)


def _unpacked(variable: str, name: str) -> Path:
    if not PACKED.is_dir():
        pytest.skip(f"the real {name} is not here: name its folder in {variable}")
    UNPACKED.mkdir(exist_ok=True)
    with (UNPACKED / f"{name}.lock").open("w") as lock:
        # Workers of a parallel run would otherwise unpack over one another.
        if sys.platform != "win32":
            import fcntl

            fcntl.flock(lock, fcntl.LOCK_EX)
        done = subprocess.run(
            [sys.executable, PACKED / "unpack", UNPACKED, name], capture_output=True, text=True, check=False
        )
    if done.returncode:
        pytest.fail(f"{PACKED / 'unpack'} can't unpack {name}: {done.stdout}{done.stderr}")
    return UNPACKED / name


@pytest.fixture(scope="session")
def locomo_file() -> Path:
    """The registered LoCoMo file."""
    return real_corpus("LOCOMO_DATA_DIR", "locomo10.json")


@pytest.fixture(scope="session")
def longmemeval_file() -> Path:
    """LongMemEval-S without one item: real, but not the registered file."""
    return real_corpus("LONGMEMEVAL_DATA_DIR", "longmemeval_s_cleaned_499of500.json")


@pytest.fixture(scope="session")
def realtalk_folder() -> Path:
    """REALTALK as its repository has it."""
    return real_release("REALTALK_DATA_DIR", "realtalk")


@pytest.fixture(scope="session")
def beam_100k_folder() -> Path:
    """BEAM's chats of 100K tokens, as its repository has them."""
    return real_release("BEAM_DATA_DIR", "beam-100k")


@pytest.fixture(scope="session")
def beam_500k_folder() -> Path:
    """BEAM's chats of 500K tokens, as its repository has them."""
    return real_release("BEAM_DATA_DIR", "beam-500k")


@pytest.fixture(scope="session")
def realmem_folder() -> Path:
    """RealMem as its repository has it."""
    return real_release("REALMEM_DATA_DIR", "realmem")


@pytest.fixture(scope="session")
def locomo_vectors(locomo_file: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of a user who measured LoCoMo with MiniLM before: a minute's work, done once for all workers."""
    with made_once(tmp_path_factory, "measured-before") as folder:
        env = {
            "RECALLBENCH_CACHE_DIR": str(folder / "cache"),
            "XDG_CONFIG_HOME": str(folder / "settings"),
            "LOCOMO_DATA_DIR": str(locomo_file.parent),
        }
        if not (folder / "exact").exists():
            words = ("run", "locomo", "--embedder", "minilm", "--store", "exact", "--folder", "exact")
            assert recallbench(*words, cwd=folder, env=env).returncode == 0
    return env


@pytest.fixture(scope="session")
def longmemeval_bm25(longmemeval_file: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[tuple[str, ...], Path]:
    """A command that measures LongMemEval, and the result it left: made once for all workers, to be copied."""
    name = longmemeval_file.name
    words = ("run", "longmemeval", "--store", "bm25", "--corpus-file", name, "--allow-deviation", "dataset")
    with made_once(tmp_path_factory, "longmemeval-before") as folder:
        if not (folder / "result").exists():
            (folder / name).symlink_to(longmemeval_file)
            assert recallbench(*words, "--folder", "result", "-q", cwd=folder).returncode == 0
    return words, folder / "result"
