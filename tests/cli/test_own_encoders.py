"""One's own encoder by the real command line: a folder, a function and an endpoint."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from commandline import recallbench
from minilm_folder import minilm_files, save_model
from scripted_server import Scripted, scripted_server

ENCODER = """
__version__ = "3"

def embed(texts):
    return [[text.lower().count(letter) + 0.1 for letter in "etaoinshrdlu"] for text in texts]
embed.settings = {"letters": "12", "api_key": "sk-hidden-in-settings"}

def by_role(texts, role):
    return [[float(len(text)), 1.0 if role == "query" else 2.0] for text in texts]

def fails(texts):
    return {}[texts[0]]

few = lambda texts: [[1.0]]
ragged = lambda texts: [[1.0] * (1 + number % 2) for number, _ in enumerate(texts)]
nan = lambda texts: [[float("nan")] * 3 for _ in texts]
wider = lambda texts: [[1.0] * len(texts) for _ in texts]
"""
RUN = ("run", "canary-locomo", "--store", "exact", "--cache-dir", "cache")
KEY = "sk-0123456789abcdef"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    (tmp_path / "my_encoder.py").write_text(ENCODER)
    return tmp_path


def stated(folder: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return metrics and environment of a result."""
    metrics, environment = (json.loads((folder / f"{name}.json").read_text()) for name in ("metrics", "environment"))
    return metrics, environment


def audited(folder: Path) -> str:
    """Return the verdict of an audit of the folder once it is committed."""
    for words in (["init", "-q"], ["add", folder.name], ["commit", "-qm", "A result"]):
        named = ["-c", "user.name=a", "-c", "user.email=a@b.c"]
        subprocess.run(["git", *named, *words], cwd=folder.parent, check=True, stdout=subprocess.DEVNULL)
    audit = recallbench("audit", folder.name, "--verdict", cwd=folder.parent)
    assert "  fail " not in audit.stdout
    assert audit.returncode == 0
    return audit.stdout.splitlines()[-3].strip()


@pytest.mark.marked
def test_a_folder_is_run_as_it_says(tmp_path: Path) -> None:
    save_model(tmp_path / "models" / "my model", pooling="cls", prompts={"query": "search_query: "})
    words = ("--embedder", "path:models/my model", "--max-tokens", "32", "--backend", "torch")
    assert recallbench(*RUN, *words, "--folder", "result", cwd=tmp_path).returncode == 0
    metrics, environment = stated(tmp_path / "result")
    facts = metrics["embedder"]["fingerprint"]
    assert metrics["embedder"]["name"] == environment["options"]["embedder"] == "path:my-model"
    assert (facts["pooling"], facts["max_tokens"], facts["query_prefix"]) == ("cls", "32", "search_query: ")
    assert facts["pinned"] == "no: a folder of one machine, known by the hashes of its files"
    assert metrics["exposure"]["max_tokens"] == environment["options"]["max_tokens"] == 32
    assert "models" not in " ".join(environment["command"])
    report = (tmp_path / "result" / "report.md").read_text()
    assert "pinned to no public revision: it is a folder of one machine" in report
    assert audited(tmp_path / "result") == "verdict: VERIFIED, not CANONICAL"
    lying = recallbench("audit", forged(tmp_path / "result", tmp_path / "forged"), cwd=tmp_path)
    assert "fingerprint pooling any kind, path:DIR has" in lying.stdout


@pytest.mark.marked
def test_a_model_of_static_vectors_is_run_and_counts_no_tokens(tmp_path: Path) -> None:
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(minilm_files() / "tokenizer.json"))
    SentenceTransformer(modules=[StaticEmbedding(tokenizer, embedding_dim=8)]).save(str(tmp_path / "static"))
    assert recallbench(*RUN, "--embedder", "path:static", "--folder", "result", cwd=tmp_path).returncode == 0
    metrics, environment = stated(tmp_path / "result")
    facts = metrics["embedder"]["fingerprint"]
    assert (facts["modules"], facts["pooling"], facts["stored_dims"]) == ("StaticEmbedding", "none", "8")
    assert (metrics["exposure"], environment["embedding"]["backend"]) == (None, "sentence-transformers/cpu")
    assert audited(tmp_path / "result") == "verdict: VERIFIED, not CANONICAL"


def forged(folder: Path, copy: Path) -> Path:
    """Return a copy that states a pooling that no model has."""
    import shutil

    shutil.copytree(folder, copy)
    text = (copy / "metrics.json").read_text()
    (copy / "metrics.json").write_text(text.replace('"pooling": "cls"', '"pooling": "any kind"'))
    return copy


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("path:nowhere",), "there is no folder nowhere"),
        (("path:",), "path: names no folder"),
        (("path:my_encoder.py",), "found: a file"),
        (("path:.",), "there is no model"),
        (("path:model", "--max-tokens", "600"), "expected: --max-tokens of at most 512"),
        (("bge-m3", "--max-tokens", "64"), "bge-m3 reads 512 tokens under the protocol"),
        (("minilm", "--max-tokens", "513"), "minilm has no positions for 513 tokens"),
        (("hash", "--max-tokens", "64"), "hash has a length of its own"),
        (("python:my_encoder:embed", "--max-tokens", "64"), "python:module:function decides itself how much it reads"),
        (("python:my_encoder",), "`my_encoder` names no function"),
        (("python:my_encoder.py:embed",), "the module's name, as my_encoder:embed"),
        (("python:my_encoder:nothing",), "`nothing` of the module `my_encoder` is no function"),
        (("python:my_encoder:fails",), "return {}[texts[0]]"),
        (("python:my_encoder:fails",), "found: KeyError: 'A text to learn the width of a vector from.'"),
        (("python:my_encoder:few",), "found: 1 × 1 for 32 texts"),
        (("python:my_encoder:ragged",), "expected: a row of numbers for each text, all of one length"),
        (("python:my_encoder:nan",), "found: NaN or infinity"),
        (("python:my_encoder:wider",), "expected: vectors of 1 numbers, as before"),
        (("http://127.0.0.1:1/v1#a model",), "the model's name can't be read"),
        (("http://127.0.0.1:1/v1",), "does not answer while asking for its models"),
        (("my_encoder:embed",), "what to do: --embedder python:my_encoder:embed"),
        (("acme/small",), "what to do: --embedder hub:acme/small@ and the 40 digits of a commit"),
        (("stella",), "path:DIR, hub:OWNER/NAME@REVISION, python:module:function, https://HOST/v1#MODEL"),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_what_can_not_be_used_says_why(workspace: Path, words: tuple[str, ...], told: str) -> None:
    if words[0] == "path:model":
        save_model(workspace / "model")
    done = recallbench(*RUN, "--folder", "result", "--embedder", *words, cwd=workspace)
    assert done.returncode in (2, 3)
    assert told in done.stderr
    assert not (workspace / "result").exists()


@pytest.mark.parametrize(("option", "value"), [("--max-tokens", "64"), ("--dtype", "bf16")])
def test_a_store_without_vectors_has_no_use_for_what_concerns_an_encoder(
    tmp_path: Path, option: str, value: str
) -> None:
    done = recallbench("run", "canary-locomo", "--store", "bm25", option, value, cwd=tmp_path)
    assert done.returncode == 2
    assert f"the store bm25 needs no vectors, so it has no use for {option}" in done.stderr
    assert f"{option} {value}" in done.stderr


def test_a_function_is_run_cached_and_checked(workspace: Path) -> None:
    for folder, again in (("first", 0), ("second", 8)):
        done = recallbench(*RUN, "--embedder", "python:my_encoder:embed", "--folder", folder, cwd=workspace)
        assert done.returncode == 0
        metrics, environment = stated(workspace / folder)
        account = environment["embedding"]
        assert (account["embedded_again"], account["reused"]) == (2 * again, 261 if again else 0)
    facts = metrics["embedder"]["fingerprint"]
    assert (facts["encoder"], facts["version"], facts["stored_dims"]) == ("my_encoder:embed", "3", "12")
    assert (facts["setting letters"], facts["setting api_key"], facts["roles"]) == ("12", "***", "alike")
    assert facts["pinned"] == "no: a function, known by the hash of its module alone"
    assert metrics["exposure"] is None
    report = (workspace / "second" / "report.md").read_text()
    assert "How much of a text the encoder reads is not known." in report
    assert "| of these with a vector from the cache | " in report
    assert "tokens of these texts" not in report
    assert audited(workspace / "second") == "verdict: VERIFIED, not CANONICAL"


def test_a_function_that_changed_under_its_name_is_noticed(workspace: Path) -> None:
    (workspace / "letters.txt").write_text("etaoin")
    (workspace / "my_encoder.py").write_text(
        "def embed(texts):\n"
        "    letters = open('letters.txt').read()\n"
        "    return [[text.count(letter) + 0.1 for letter in letters] for text in texts]\n"
    )
    words = (*RUN, "--embedder", "python:my_encoder:embed")
    assert recallbench(*words, "--folder", "first", cwd=workspace).returncode == 0
    (workspace / "letters.txt").write_text("nioate")
    done = recallbench(*words, "--folder", "second", cwd=workspace)
    assert done.returncode == 2
    assert "vectors in the cache are not the encoder's" in done.stderr


def test_a_function_that_tells_questions_apart_is_given_the_role(workspace: Path) -> None:
    words = ("--embedder", "python:my_encoder:by_role", "--backend", "openvino", "--folder", "result")
    done = recallbench(*RUN, *words, cwd=workspace)
    assert done.returncode == 0
    assert "--backend openvino changes nothing: python:my_encoder:by_role is run by neither" in done.stderr
    assert stated(workspace / "result")[0]["embedder"]["fingerprint"]["roles"] == "told apart"
    assert audited(workspace / "result") == "verdict: VERIFIED, not CANONICAL"


def test_a_registered_encoder_reads_as_much_as_is_asked_for(workspace: Path) -> None:
    words = ("--embedder", "bge-small-int8", "--max-tokens", "24", "--limit", "2", "--folder", "result")
    assert recallbench(*RUN, *words, cwd=workspace).returncode == 0
    metrics, environment = stated(workspace / "result")
    assert metrics["embedder"]["fingerprint"]["max_tokens"] == "24"
    assert environment["options"]["max_tokens"] == metrics["exposure"]["max_tokens"] == 24
    assert metrics["exposure"]["truncated"] > 0
    assert metrics["embedder"]["fingerprint"]["backend"] == "onnxruntime/cpu"
    assert audited(workspace / "result") == "verdict: VERIFIED, not CANONICAL"


@pytest.fixture
def team(workspace: Path) -> Path:
    """Return the folder of a labelled set, beside documents that answer nothing in it."""
    folder = workspace / "team"
    (folder / "qrels").mkdir(parents=True)
    texts = {"a": "Ines repaired the boat.", "b": "Planted the pear tree.", "c": "The doctor says: more sleep."}
    asked = {"q1": "Who repaired the boat?", "q2": "When did we plant the pear tree?"}
    for name, lines in (("corpus", texts), ("queries", asked)):
        rows = [json.dumps({"_id": id, "text": text}) for id, text in lines.items()]
        (folder / f"{name}.jsonl").write_text("\n".join(rows) + "\n")
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\ta\t1\nq2\tb\t1\n")
    others = [json.dumps({"_id": f"x{number}", "text": f"Nothing of note on day {number}."}) for number in range(40)]
    (workspace / "others.jsonl").write_text("\n".join(others) + "\n")
    return folder


def test_every_command_that_measures_takes_it(team: Path) -> None:
    workspace, name = team.parent, "python:my_encoder:embed"
    (workspace / "settings.toml").write_text(f'embedder = "{name}"\nstore = "exact"\ncache-dir = "cache"\n')
    config = ("--config", "settings.toml")
    assert recallbench("evaluate", "team", *config, "--folder", "evaluated", cwd=workspace).returncode == 0
    assert stated(workspace / "evaluated")[0]["embedder"]["name"] == name
    audit = recallbench("audit", "evaluated", "--corpus-file", "team", cwd=workspace)
    assert "  fail " not in audit.stdout
    assert ": holds, not committed\n" in audit.stdout
    grown = recallbench("grow", "team", *config, "--distractors", "others.jsonl", "--factors", "1,2", cwd=workspace)
    assert grown.returncode == 0
    assert name in grown.stdout
    repeated = recallbench("repeat", "2", "canary-locomo", *config, "--out", "repeated", cwd=workspace)
    assert repeated.returncode == 0
    assert name in repeated.stdout


@pytest.fixture
def endpoint() -> Iterator[Scripted]:
    """An endpoint that counts words as tokens, and is busy at its second request."""
    asked: list[int] = []

    def answer(path: str, body: Any) -> Any:
        if path == "/v1/models":
            return {"data": [{"id": "letters:latest"}]}
        asked.append(len(body["input"]))
        if len(asked) == 2:
            return 429, {"error": "slow down"}, {"Retry-After": "0.01"}
        data = [
            {"index": place, "embedding": [text.count(letter) + 0.1 for letter in "etaoin"]}
            for place, text in enumerate(body["input"])
        ]
        used = {"prompt_tokens": sum(len(text.split()) for text in body["input"])}
        return {"data": data[::-1], "model": body["model"], "usage": used}

    with scripted_server() as server:
        server.answer = answer
        yield server


def test_an_endpoint_is_asked_in_batches_and_its_tokens_counted(tmp_path: Path, endpoint: Scripted) -> None:
    env = {"RECALLBENCH_EMBEDDER_TOKEN": KEY}
    address = f"{endpoint.address.rstrip('/')}/v1"
    ready = recallbench(*RUN, "--embedder", address, "--dry-run", cwd=tmp_path, env=env)
    assert f"{address}: model letters:latest" in ready.stdout
    done = recallbench(*RUN, "--embedder", address, "--folder", "result", cwd=tmp_path, env=env)
    assert done.returncode == 0
    metrics, environment = stated(tmp_path / "result")
    facts, usage = metrics["embedder"]["fingerprint"], environment["embedding"]["usage"]
    assert (facts["encoder"], facts["model"], facts["endpoint"]) == ("letters:latest", "letters:latest", address)
    assert facts["pinned"] == "no: an endpoint, which may change what it runs under a name"
    batches = [len(body["input"]) for body in endpoint.requested("/v1/embeddings")]
    assert max(batches) == 64
    assert sum(batches) == 1 + batches[1] + 261
    assert usage["requests"] == len(batches) + 1
    assert usage["requests_again"] == 1
    texts = [text for body in endpoint.requested("/v1/embeddings") for text in body["input"]]
    refused = endpoint.requested("/v1/embeddings")[1]["input"]
    assert usage["tokens"] == sum(len(text.split()) for text in texts) - sum(len(text.split()) for text in refused)
    assert all(headers["authorization"] == f"Bearer {KEY}" for *_, headers in endpoint.requests)
    assert not any(KEY in path.read_text() for path in (tmp_path / "result").iterdir())
    assert audited(tmp_path / "result") == "verdict: VERIFIED, not CANONICAL"


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ({"data": []}, 'expected: "data" with an entry for each text: "index" and "embedding"'),
        ({"data": [{"index": 0, "embedding": "AAAA"}]}, "expected: a row of numbers for each text"),
        ((401, {"error": "no key"}, {}), "a bearer token in RECALLBENCH_EMBEDDER_TOKEN"),
        ((400, {"error": "maximum context length is 8192 tokens"}, {}), "maximum context length is 8192 tokens"),
    ],
    ids=["nothing", "base64", "no key", "too long"],
)
def test_an_endpoint_that_answers_otherwise_is_quoted(tmp_path: Path, answer: Any, told: str) -> None:
    with scripted_server() as server:
        server.answer = lambda path, body: answer
        name = f"{server.address.rstrip('/')}/v1#m"
        done = recallbench(*RUN, "--embedder", name, "--folder", "result", cwd=tmp_path)
    assert done.returncode in (2, 3)
    assert told in done.stderr


def test_of_several_models_one_has_to_be_named(tmp_path: Path) -> None:
    with scripted_server() as server:
        server.answer = lambda path, body: {"data": [{"id": "small"}, {"id": "large"}]}
        address = f"{server.address.rstrip('/')}/v1"
        done = recallbench(*RUN, "--embedder", address, "--folder", "result", cwd=tmp_path)
        strange = recallbench(*RUN, "--embedder", f"{address}#huge", "--dry-run", "--strict", cwd=tmp_path)
    assert done.returncode == 2
    assert f"expected: --embedder {address}#MODEL" in done.stderr
    assert "found: small, large" in done.stderr
    assert strange.returncode == 3
    assert "what to do: name one of: small, large" in strange.stdout
