from __future__ import annotations

import base64
import json
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from commandline import environment, recallbench
from recallbench.citing.attestation import CODE, attested
from recallbench.citing.keys import make, private_key
from recallbench.errors import InputError, UsageError
from recallbench.results import manifest


@pytest.fixture(scope="module")
def signed_place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A place with the result `r`, attested by the key `k`, and another pair `other`."""
    place = tmp_path_factory.mktemp("attested")
    assert recallbench("run", "canary-locomo", "--store", "bm25", "--folder", "r", cwd=place).returncode == 0
    for name in ("safe/k", "safe/other"):
        assert recallbench("keys", name, cwd=place).returncode == 0
    assert recallbench("attest", "r", "--key", "safe/k", cwd=place).returncode == 0
    return place


@pytest.fixture
def copied(signed_place: Path, tmp_path: Path) -> Path:
    shutil.copytree(signed_place, tmp_path / "c")
    return tmp_path / "c"


def envelope(place: Path) -> dict[str, Any]:
    return dict(json.loads((place / "r.attestation.json").read_text()))


def problem(place: Path, changed: dict[str, Any] | None = None, key: str = "safe/k.pub") -> str:
    if changed is not None:
        (place / "r.attestation.json").write_text(json.dumps(changed))
    check = attested(place / "r", place / key)
    assert (check.status, check.code) == ("fail", CODE)
    return check.observed


def test_a_result_is_attested_beside_its_folder(signed_place: Path) -> None:
    check = attested(signed_place / "r", signed_place / "safe/k.pub")
    assert (check.status, check.code) == ("pass", "RB-ATTESTED")
    signed = envelope(signed_place)
    assert signed["payloadType"] == "application/vnd.in-toto+json"
    statement = json.loads(base64.b64decode(signed["payload"]))
    assert statement["_type"] == "https://in-toto.io/Statement/v1"
    subjects = {file["name"]: file["digest"]["sha256"] for file in statement["subject"]}
    files = json.loads((signed_place / "r/manifest.json").read_text())["files"]
    assert {name: sha256 for name, sha256 in subjects.items() if name != "manifest.json"} == files
    metrics = json.loads((signed_place / "r/metrics.json").read_text())
    assert statement["predicate"]["measures"][0]["value"] == metrics["headline"][0]["estimate"]["value"]
    assert statement["predicate"]["verdict"] == "UNVERIFIED (pending: committed)"
    assert statement["predicate"]["outcome"] == "holds, not committed"
    assert statement["predicate"]["not_checked"] == ["RB-COMMITTED committed"]
    assert "that the rankings are what this store returned" in statement["predicate"]["not_derivable"]
    assert check.observed.endswith("its files are these; not checked when it was signed: RB-COMMITTED committed")
    assert manifest.differences(signed_place / "r") == []


def test_who_audits_is_not_told_to_sign(copied: Path) -> None:
    """The owner of the key signs; whoever only has the public one can ask for what is missing."""
    (copied / "r.attestation.json").rename(copied / "elsewhere.json")
    words = ("audit", "r", "--require-attestation", "safe/k.pub", "-q")
    last = recallbench(*words, cwd=copied).stdout.splitlines()[-1]
    assert last.endswith("; next: ask who published it for r.attestation.json")
    (copied / "r.attestation.json").write_text("{}")
    assert attested(copied / "r", copied / "safe/k.pub").remedy == (
        "ask who published it for the folder as it was signed, with its r.attestation.json and the key"
    )


def test_the_signature_is_plain_dsse(signed_place: Path) -> None:
    """Verified with the cryptography library alone, from the words of the DSSE specification."""
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    signed, kind = envelope(signed_place), b"application/vnd.in-toto+json"
    payload = base64.b64decode(signed["payload"])
    key = load_pem_public_key((signed_place / "safe/k.pub").read_bytes())
    covered = b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(payload), payload)
    key.verify(base64.b64decode(signed["signatures"][0]["sig"]), covered)  # type: ignore[union-attr, call-arg]


def test_what_is_wrong_is_told(copied: Path) -> None:
    good = envelope(copied)
    payload = base64.b64decode(good["payload"]).decode()
    assert "signed with another key" in problem(copied, key="safe/other.pub")
    changed = base64.b64encode(payload.replace('"canonical":false', '"canonical":true').encode()).decode()
    assert "the signature does not fit" in problem(copied, {**good, "payload": changed})
    assert "the payload type is 'text/plain'" in problem(copied, {**good, "payloadType": "text/plain"})
    assert "signed with another key: by nobody" in problem(copied, {**good, "signatures": []})
    for broken in ({**good, "payload": 5}, {**good, "signatures": [1]}, {**good, "signatures": None}, {}):
        assert "is no DSSE envelope" in problem(copied, broken)
    (copied / "r.attestation.json").write_text(json.dumps(good)[:400])
    assert "can't be read" in problem(copied)
    (copied / "r.attestation.json").unlink()
    assert "there is no r.attestation.json" in problem(copied)


def test_an_attestation_holds_for_its_own_folder_alone(copied: Path) -> None:
    assert recallbench("run", "canary-locomo", "--store", "bm25", "--limit", "9", "--folder", "s", cwd=copied)
    shutil.copy(copied / "r.attestation.json", copied / "s.attestation.json")
    other = attested(copied / "s", copied / "safe/k.pub")
    assert (other.status, "it attests another result" in other.observed) == ("fail", True)
    report = copied / "r/report.md"
    report.write_text(report.read_text() + "better\n")
    assert "report.md has sha256" in problem(copied)
    (copied / "r/manifest.json").write_text(manifest.build(copied / "r"))
    assert "or the manifest was changed" in problem(copied)


def test_an_attestation_of_an_earlier_release_still_holds(copied: Path) -> None:
    from securesystemslib.dsse import Envelope

    payload = json.loads(base64.b64decode(envelope(copied)["payload"]))
    for field in ("outcome", "not_checked", "not_derivable"):
        del payload["predicate"][field]
    earlier = Envelope(json.dumps(payload).encode(), "application/vnd.in-toto+json", {})
    earlier.sign(private_key(copied / "safe/k"))
    (copied / "r.attestation.json").write_text(json.dumps(earlier.to_dict()))
    check = attested(copied / "r", copied / "safe/k.pub")
    assert check.status == "pass"
    assert check.observed.endswith("its files are these; it does not say what was not checked when it was signed")


def test_without_the_dataset_an_attestation_says_so(copied: Path) -> None:
    """On the console and in what is signed; why the dataset is not there is not signed: it names this machine."""
    metrics = copied / "r/metrics.json"
    metrics.write_text(metrics.read_text().replace("canary-locomo", "locomo"))
    (copied / "r/manifest.json").write_text(manifest.build(copied / "r"))
    (copied / "r.attestation.json").unlink()
    done = recallbench("attest", "r", "--key", "safe/k", cwd=copied, env={"LOCOMO_DATA_DIR": str(copied)})
    assert done.returncode == 0
    predicate = json.loads(base64.b64decode(envelope(copied)["payload"]))["predicate"]
    assert "RB-GOLD gold" in predicate["not_checked"]
    assert str(copied) not in json.dumps(predicate)
    assert "  not checked: RB-APPLIED clarifications applied, RB-DATASET dataset, " in done.stdout
    assert "; when signed its audit said: does not hold (" in done.stdout.splitlines()[-1]
    assert ", and not checked: " in done.stdout.splitlines()[-1]


def test_a_signing_ends_in_words_in_each_format(copied: Path) -> None:
    (copied / "r.attestation.json").unlink()
    done = recallbench("attest", "r", "--key", "safe/k", cwd=copied)
    last = (
        "Signed every file of r; when signed its audit said: holds, not committed; next: recallbench audit r "
        "--require-attestation safe/k.pub"
    )
    assert done.stdout.splitlines()[1:3] == [
        "  when signed: holds, not committed",
        "  not checked: RB-COMMITTED committed",
    ]
    assert done.stdout.splitlines()[-2:] == ["", last]
    assert "CANONICAL" not in done.stdout
    (copied / "r.attestation.json").unlink()
    asked = recallbench("attest", "r", "--key", "safe/k", "--verdict", cwd=copied)
    assert "  verdict: UNVERIFIED (pending: committed), not CANONICAL" in asked.stdout.splitlines()
    (copied / "r.attestation.json").unlink()
    told = json.loads(recallbench("attest", "r", "--key", "safe/k", "--json", cwd=copied).stdout)
    assert (told["word"], told["not_checked"]) == ("holds, not committed", ["RB-COMMITTED committed"])
    assert told["conclusion"]["text"] == last


def test_a_pair_of_keys_ends_in_words_in_each_format(tmp_path: Path) -> None:
    done = recallbench("keys", "my keys/k", cwd=tmp_path)
    assert done.stdout.splitlines()[-1] == (
        "Made a pair of keys; the private one has no passphrase: keep it out of git and off shared disks; next: "
        "recallbench attest DIR --key 'my keys/k'"
    )
    sheet = recallbench("keys", "keys/other", "--format", "csv", cwd=tmp_path).stdout.splitlines()
    assert sheet[:3] == ["what,value", "private,keys/other", "public,keys/other.pub"]


def test_a_folder_that_is_not_whole_is_not_signed(copied: Path) -> None:
    (copied / "r.attestation.json").unlink()
    (copied / "r/run.trec").unlink()
    done = recallbench("attest", "r", "--key", "safe/k", cwd=copied)
    assert (done.returncode, "run.trec is missing" in done.stderr) == (2, True)
    assert not (copied / "r.attestation.json").exists()
    assert recallbench("attest", "nowhere", "--key", "safe/k", cwd=copied).returncode == 2
    assert "--key FILE" in recallbench("attest", "r", cwd=copied).stderr


def test_nothing_is_overwritten(copied: Path) -> None:
    before = (copied / "r.attestation.json").read_bytes(), (copied / "safe/k").read_bytes()
    for words in (("attest", "r", "--key", "safe/k"), ("keys", "safe/k")):
        done = recallbench(*words, cwd=copied)
        assert (done.returncode, "exists already" in done.stderr) == (2, True)
    assert before == ((copied / "r.attestation.json").read_bytes(), (copied / "safe/k").read_bytes())
    (copied / "safe/lonely.pub").write_text("")
    assert recallbench("keys", "safe/lonely", cwd=copied).returncode == 2
    assert not (copied / "safe/lonely").exists()


def test_private_keys_are_private(copied: Path) -> None:
    assert stat.S_IMODE((copied / "safe/k").stat().st_mode) == 0o600
    old = os.umask(0)
    try:
        private, _ = make(copied / "deep/er/key")
    finally:
        os.umask(old)
    assert stat.S_IMODE(private.stat().st_mode) == 0o600
    (copied / "safe/k").chmod(0o640)
    with pytest.raises(InputError, match="others than its owner"):
        private_key(copied / "safe/k")


def test_private_keys_stay_away_from_results(copied: Path) -> None:
    (copied / "results").mkdir()
    for name in ("r/k", "r/a/b/k", "results/k", "results/new/deeper/k", "beside-r"):
        with pytest.raises(UsageError, match="does not belong near a result"):
            make(copied / name)
    (copied / "locomo/results").mkdir(parents=True)
    shutil.copytree(copied / "r", copied / "locomo/results/r")
    (copied / "safe/link").symlink_to(copied / "r")
    for name in ("locomo/k", "safe/link/k"):
        with pytest.raises(UsageError, match="does not belong near a result"):
            make(copied / name)
    shutil.copy(copied / "safe/k", copied / "r/k")
    with pytest.raises(UsageError, match="does not belong near a result"):
        private_key(copied / "r/k")


def test_other_files_are_no_keys(copied: Path) -> None:
    (copied / "safe/folder").mkdir()
    (copied / "safe/text").write_text("hello")
    (copied / "safe/text").chmod(0o600)
    shutil.copy(copied / "safe/k.pub", copied / "safe/public")
    (copied / "safe/public").chmod(0o600)
    for name in ("safe/text", "safe/public", "safe/nowhere", "safe/folder"):
        with pytest.raises(InputError, match="can't be used as a key"):
            private_key(copied / name)
    for name in ("safe/text", "safe/k", "nowhere"):
        with pytest.raises(InputError, match="can't be used as a key"):
            attested(copied / "r", copied / name)


@pytest.mark.marked
def test_a_key_has_a_name_of_its_own(copied: Path) -> None:
    for name in ("", ".", "safe/release.pub"):
        done = recallbench("keys", name, cwd=copied)
        assert (done.returncode, "can't be the name of a private key" in done.stderr) == (2, True)
    assert not (copied / "safe/release.pub").exists()
    signed = recallbench("attest", "r", "--key", "safe/k.pub", cwd=copied)
    assert (signed.returncode, "found: a public key" in signed.stderr, "chmod" in signed.stderr) == (2, True, False)


def test_without_the_extra(signed_place: Path) -> None:
    program = (
        "import sys; sys.modules['securesystemslib'] = None; from recallbench.cli.main import run_program; "
        "run_program(sys.argv[1:])"
    )
    for words in (["keys", "safe/new"], ["attest", "r", "--key", "safe/k"]):
        done = subprocess.run(
            [sys.executable, "-c", program, *words],
            cwd=signed_place,
            env=environment(signed_place),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 3
        assert "pip install -e '.[attest]'" in done.stderr
