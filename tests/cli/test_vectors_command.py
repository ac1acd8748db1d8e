"""`recallbench vectors`: packs by the real command line, made in one place and used in another."""

from __future__ import annotations

import json
import shutil
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from commandline import recallbench
from labelled_sets import beir
from offline import offline
from pack_makers import EMBEDDER, ENCODER, pack, use, without_libraries, write_encoder
from recallbench.corpora.stream import sha256_of

RUN = ("run", "canary-locomo", "--store", "exact", "--embedder", EMBEDDER)


@pytest.fixture(scope="module")
def maker(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A place with the encoder, a pack of the canary, an attestation of it, and a result without any pack."""
    place = tmp_path_factory.mktemp("maker")
    write_encoder(place)
    pack(place)
    for name in ("safe/k", "safe/other"):
        assert recallbench("keys", name, cwd=place).returncode == 0
    words = ("attest", "c.safetensors", "--key", "safe/k", "--embedder", EMBEDDER, "-q")
    assert recallbench(*words, cwd=place).returncode == 0
    assert recallbench(*RUN, "--folder", "made", "-q", cwd=place).returncode == 0
    return place


@pytest.fixture
def user(maker: Path, tmp_path: Path) -> Path:
    """Another machine: the pack, its attestation and the public key, and no encoder."""
    for name in ("c.safetensors", "c.safetensors.attestation.json", "safe/k.pub", "safe/other.pub"):
        shutil.copy(maker / name, tmp_path / Path(name).name)
    return tmp_path


def document(folder: Path, name: str = "metrics") -> Any:
    return json.loads((folder / f"{name}.json").read_text())


def test_a_run_with_a_pack_needs_no_encoder_and_names_its_maker(maker: Path, user: Path) -> None:
    used = use(user, user / "c.safetensors", "--key", "k.pub")
    assert used.returncode == 0
    assert used.stdout.splitlines()[-1].startswith(
        f"Runs of {EMBEDDER} on canary-locomo take their 261 vectors from c.safetensors now; checked its bytes, its "
        "texts, its signature by "
    )
    done = recallbench(*RUN, "--folder", "r", cwd=user)
    assert done.returncode == 0
    sha256, today = sha256_of(user / "c.safetensors"), date.today().isoformat()
    [told] = [line for line in done.stdout.splitlines() if line.startswith("vectors: ")]
    assert told.startswith(f"vectors: a pack that Ann made on {today} (")
    assert f"), sha256 {sha256[:12]}…, signed with the key " in told
    assert told.endswith("…; whoever signed it compared 32 with the encoder's")
    assert f"vectors of {EMBEDDER}: a pack that Ann made on {today}" in done.stderr

    stated = document(user / "r")["embedder"]
    assert (stated["pack"]["maker"], stated["pack"]["sha256"], stated["pack"]["texts"]) == ("Ann", sha256, 261)
    assert stated["vectors_sha256"] == stated["pack"]["vectors_sha256"]
    without = document(maker / "made")
    assert {**stated, "pack": None} == {**without["embedder"], "pack": None}
    for name in ("raw_retrievals.jsonl", "run.trec", "qrels.trec"):
        assert (user / "r" / name).read_bytes() == (maker / "made" / name).read_bytes()
    environment = document(user / "r", "environment")
    account = environment["embedding"]
    assert (account["computed"], account["reused"], account["packed"], account["foreign"]) == (0, 261, 261, 0)
    assert environment["pack"]["manifest"]["maker"] == "Ann"
    assert environment["pack"]["signature"]["key"] == stated["pack"]["key"]
    report = (user / "r" / "report.md").read_text()
    assert f"The vectors are those of a pack that Ann made on {today}" in report
    assert f"a pack that Ann made on {today}" in (user / "r" / "report.html").read_text()
    audited = recallbench("audit", "r", "--verbose", cwd=user)
    assert "  pass        RB-PACK            pack: a pack that Ann made on " in audited.stdout


def test_without_any_library_and_without_any_network(user: Path) -> None:
    bare = without_libraries(user)
    for words in (("vectors", "use", "c.safetensors"), (*RUN, "--folder", "r")):
        done = offline("-m", "recallbench", *words, cwd=user, env=bare)
        assert (done.returncode, done.packets) == (0, 0)
    assert document(user / "r")["embedder"]["pack"]["maker"] == "Ann"


@pytest.mark.parametrize(
    "words",
    [
        ("repeat", "2", "canary-locomo", "--store", "exact"),
        ("grow", "canary-locomo", "--store", "exact", "--factors", "1,2"),
        ("run", "canary-locomo", "--store", "exact", "--scope", "pooled", "--folder", "pooled"),
        ("run", "canary-locomo", "--store", "exact", "--limit", "9", "--folder", "few"),
        ("run", "canary-locomo", "--store", "exact", "--dry-run", "--strict"),
    ],
    ids=lambda words: words[0] + words[-1],
)
def test_whatever_runs_over_the_corpus_takes_its_vectors(words: tuple[str, ...], user: Path) -> None:
    assert use(user, user / "c.safetensors").returncode == 0
    assert recallbench(*words, "--embedder", EMBEDDER, cwd=user).returncode == 0


def test_a_matrix_has_a_row_without_the_time_of_its_encoder(user: Path) -> None:
    assert use(user, user / "c.safetensors").returncode == 0
    done = recallbench("matrix", "--encoders", EMBEDDER, "--corpora", "canary-locomo", "--json", "-q", cwd=user)
    assert done.returncode == 0
    [cell] = json.loads(done.stdout)["cells"]
    assert (cell["effort"]["probed"], cell["effort"]["seconds"]) == (0, None)


def test_what_was_checked_and_what_was_not_is_the_last_line(maker: Path, user: Path) -> None:
    done = recallbench("vectors", "verify", "c.safetensors", cwd=user)
    assert done.returncode == 0
    assert done.stdout.splitlines()[-1] == (
        "c.safetensors holds: checked its bytes, its texts; not checked: who vouches for it (--key NAME.pub); its "
        f"vectors ({EMBEDDER} is opened where --embedder names it); next: recallbench vectors use c.safetensors"
    )
    done = recallbench("vectors", "verify", "c.safetensors", "--embedder", EMBEDDER, "--key", "safe/k.pub", cwd=maker)
    key = json.loads((maker / "c.safetensors.attestation.json").read_text())["signatures"][0]["keyid"]
    assert done.stdout.splitlines()[-1] == (
        f"c.safetensors holds: checked its bytes, its texts, 32 texts embedded again, its signature by {key[:16]}…; "
        "next: recallbench vectors use c.safetensors"
    )
    told = json.loads(recallbench("vectors", "verify", "c.safetensors", "--json", "-q", cwd=user).stdout)
    assert (told["texts_checked"], told["compared"], told["key"]) == (True, 0, None)
    assert told["manifest"]["encoder"] == EMBEDDER


def test_every_form_tells_the_same(user: Path) -> None:
    def printed(form: str) -> str:
        done = recallbench("vectors", "verify", "c.safetensors", "-q", "--format", form, cwd=user)
        assert done.returncode == 0
        return done.stdout

    last = printed("text").splitlines()[-1]
    assert json.loads(printed("json"))["conclusion"]["text"] == last
    assert printed("csv").splitlines()[:2] == ["what,value", "file,c.safetensors"]
    assert "|---|---|\n| file | c.safetensors |\n" in printed("markdown")
    assert printed("html").startswith("<!DOCTYPE html>")


def test_another_key_or_none_beside_the_pack_is_refused(user: Path) -> None:
    for words in (("verify", "c.safetensors", "--key", "other.pub"), ("use", "c.safetensors", "--key", "other.pub")):
        done = recallbench("vectors", *words, cwd=user)
        assert (done.returncode, done.stdout) == (2, "")
        assert "c.safetensors.attestation.json does not vouch for the pack" in done.stderr
        assert "found: signed with another key: by " in done.stderr
    (user / "c.safetensors.attestation.json").unlink()
    done = recallbench("vectors", "use", "c.safetensors", "--key", "k.pub", cwd=user)
    assert done.returncode == 2
    assert "nobody vouches for c.safetensors" in done.stderr
    assert list((user / "cache").rglob("pack.json")) == []


def test_an_attestation_of_another_pack_is_refused(maker: Path, user: Path, tmp_path: Path) -> None:
    write_encoder(user)
    other = pack(user, corpus="canary-longmemeval", save="other.safetensors")
    shutil.copy(maker / "c.safetensors.attestation.json", user / "other.safetensors.attestation.json")
    done = recallbench("vectors", "verify", other, "--key", "k.pub", cwd=user)
    assert done.returncode == 2
    assert "found: it is of another file than the one with the sha256 " in done.stderr


def test_a_pack_of_other_texts_is_refused_by_a_run_that_can_not_embed(user: Path) -> None:
    assert use(user, user / "c.safetensors").returncode == 0
    done = recallbench(*RUN[:1], "canary-longmemeval", *RUN[2:], "--folder", "r", cwd=user)
    assert done.returncode == 3
    assert f"none of the packs of {EMBEDDER} that are used here is of this corpus, and its weights are not here" in (
        done.stderr
    )
    assert "found: canary-locomo (function/its own), sha256 " in done.stderr
    assert not (user / "r").exists()


def test_a_pack_of_another_encoder_is_refused(user: Path) -> None:
    done = recallbench("vectors", "use", "c.safetensors", "--embedder", "minilm", cwd=user)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "recallbench: c.safetensors is a pack of another encoder\n"
        "  expected: one of minilm, which --embedder names\n"
        f"  found: {EMBEDDER}\n"
        "  what to do: name the encoder that the pack is of, or get another pack\n"
    )
    write_encoder(user, ENCODER + "\n# another one\n")
    done = recallbench("vectors", "use", "c.safetensors", "--embedder", EMBEDDER, "-q", cwd=user)
    assert done.returncode == 2
    assert f"the pack is of another encoder than the {EMBEDDER} on this machine" in done.stderr
    assert "expected: module_sha256 " in done.stderr
    assert list((user / "cache").rglob("pack.json")) == []


def test_an_encoder_that_was_changed_since_embeds_for_itself(maker: Path, user: Path) -> None:
    assert use(user, user / "c.safetensors").returncode == 0
    write_encoder(user, ENCODER + "\n# another one\n")
    done = recallbench(*RUN, "--folder", "r", cwd=user)
    assert done.returncode == 0
    assert "is of another python:my_encoder:embed than the one on this machine: it is not used" in done.stderr
    assert "pack" not in document(user / "r")["embedder"]
    assert document(user / "r", "environment")["embedding"]["computed"] == 261


def test_a_pack_is_of_a_whole_corpus(tmp_path: Path) -> None:
    """Of a part, `verify` could not tell which texts it should hold."""
    done = recallbench("vectors", "pack", "canary-locomo", "--limit", "3", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "No such option '--limit'" in done.stderr


def test_vectors_that_are_not_the_encoders_are_refused(maker: Path, tmp_path: Path) -> None:
    """A pack may be whole and yet a lie: only the weights tell."""
    liar, user = tmp_path / "liar", tmp_path / "user"
    for place in (liar, user):
        place.mkdir()
        # The same file, and so the same fingerprint, whatever it does.
        write_encoder(place, ENCODER.replace("% 64", "// int(os.environ.get('SHIFT', 1)) % 64") + "import os\n")
    words = ("vectors", "pack", "canary-locomo", "--embedder", EMBEDDER, "--save", "c.safetensors", "-q")
    assert recallbench(*words, cwd=liar, env={"SHIFT": "3"}).returncode == 0
    done = recallbench("vectors", "use", liar / "c.safetensors", "--embedder", EMBEDDER, "-q", cwd=user)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"the vectors of {liar / 'c.safetensors'} are not those of {EMBEDDER}" in done.stderr
    assert "none of it was used" in done.stderr
    assert not list((user / "cache" / "vectors").glob("*my_encoder*"))


def test_a_file_that_is_there_is_not_overwritten(maker: Path) -> None:
    before = (maker / "c.safetensors").read_bytes()
    words = ("vectors", "pack", "canary-locomo", "--embedder", EMBEDDER, "--save", "c.safetensors")
    done = recallbench(*words, cwd=maker)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("recallbench: c.safetensors exists already\n")
    assert (maker / "c.safetensors").read_bytes() == before


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("--embedder", "hash"), "hash needs no pack: it has no weights"),
        (("--embedder", EMBEDDER, "--maker", "<b>Ann</b>"), "--maker '<b>Ann</b>' can't stand in a pack"),
        (("--embedder", EMBEDDER, "--save", "my_encoder.py/x"), "my_encoder.py/x can't be written"),
    ],
)
def test_what_can_not_be_packed_is_refused_at_once(words: tuple[str, ...], problem: str, maker: Path) -> None:
    done = recallbench("vectors", "pack", "canary-locomo", *words, cwd=maker)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"recallbench: {problem}\n")


def test_an_encoder_that_can_not_be_shown_is_not_packed(tmp_path: Path) -> None:
    write_encoder(tmp_path, f"{ENCODER}\nembed.settings = {{'name': '<script>'}}\n")
    words = ("vectors", "pack", "canary-locomo", "--embedder", EMBEDDER, "--save", "c.safetensors", "-q")
    done = recallbench(*words, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"recallbench: vectors of {EMBEDDER} can't be packed\n")
    assert not (tmp_path / "c.safetensors").exists()


def test_a_pack_is_the_same_file_again_but_for_its_maker(maker: Path) -> None:
    again = pack(maker, save="again.safetensors")
    assert again.read_bytes() == (maker / "c.safetensors").read_bytes()
    words = ("vectors", "pack", "canary-locomo", "--embedder", EMBEDDER, "--save", "bob.safetensors", "-q")
    assert recallbench(*words, "--maker", "Bob", cwd=maker).returncode == 0
    data = [(maker / name).read_bytes().partition(b"}}")[2] for name in ("bob.safetensors", "c.safetensors")]
    assert b"Bob" in (maker / "bob.safetensors").read_bytes()
    assert data[0][-40 * 261 :] == data[1][-40 * 261 :]


def test_ones_own_set_is_packed_and_evaluated_without_its_encoder(tmp_path: Path) -> None:
    maker, user = tmp_path / "maker", tmp_path / "user"
    for place in (maker, user):
        place.mkdir()
        beir(place / "team")
    write_encoder(maker)
    file = pack(maker, corpus="team")
    done = recallbench("vectors", "use", file, "--corpus-file", "team", cwd=user)
    assert "checked its bytes, its texts" in done.stdout.splitlines()[-1]
    words = ("evaluate", "team", "--store", "exact", "--embedder", EMBEDDER, "--folder", "r", "-q")
    done = recallbench(*words, cwd=user)
    assert done.returncode == 0
    assert "\nvectors: a pack that Ann made on " in done.stdout
    assert document(user / "r")["embedder"]["pack"]["maker"] == "Ann"
    (user / "team" / "queries.jsonl").write_text((user / "team" / "queries.jsonl").read_text().replace("e", "o", 1))
    done = recallbench("vectors", "verify", file, "--corpus-file", "team", cwd=user)
    assert done.returncode == 2
    assert f"{file} is a pack of other texts" in done.stderr
