"""Each distinct text is embedded once, across interruptions and processes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tiny_models import Tiny, independent, sentence, table_of

from recallbench.embedding import cached_embedder, machine
from recallbench.embedding.encoders import read_spec
from recallbench.embedding.engines import choice
from recallbench.embedding.stopwatch import Stopwatch
from recallbench.errors import InputError
from recallbench.progress import Advance, Silent

TEXTS = [sentence(length, seed) for seed, length in enumerate((3, 40, 700, 1, 12, 200, 90, 7, 30, 600, 5, 17))]


def test_a_distinct_text_is_embedded_once(opened: Any) -> None:
    embedder = opened()
    embedder.ensure(iter([*TEXTS, *TEXTS[:5]]), "passage")
    # Both roles share weights and prefix, so a query equal to a passage has its vector.
    embedder.ensure([TEXTS[0], "the cat sat"], "query")
    report = embedder.report()
    assert (report.distinct, report.computed, report.reused, report.truncated) == (13, 13, 0, 3)
    embedder.close()
    again = opened()
    again.ensure(TEXTS[:4], "passage")
    report = again.report()
    assert (report.distinct, report.computed, report.reused, report.truncated) == (4, 0, 4, 1)
    assert report.computed_with == (machine.describe_computation("torch/cpu"),)
    assert report.tokens == int(again.lookup(TEXTS[:4], "passage").tokens.sum())


def test_texts_that_all_have_a_vector_need_not_be_seen_twice(opened: Any) -> None:
    opened().ensure(TEXTS, "passage")
    embedder = opened()
    assert [embedder.reuse([*TEXTS[start : start + 5], TEXTS[0]], "passage") for start in (0, 5, 10)] == [True] * 3
    embedder.ensure((), "passage")
    report = embedder.report()
    assert (report.distinct, report.computed, report.reused, report.truncated) == (12, 0, 12, 3)
    assert report.tokens == int(embedder.lookup(TEXTS, "passage").tokens.sum())
    assert embedder.report() == report


def test_a_text_without_a_vector_must_be_seen(opened: Any) -> None:
    opened().ensure(TEXTS[:9], "passage")
    embedder = opened()
    assert embedder.reuse(TEXTS[:6], "passage")
    assert not embedder.reuse(TEXTS[6:], "passage")
    embedder.ensure(TEXTS, "passage")
    assert (embedder.report().computed, embedder.report().reused) == (3, 9)


def test_vectors_that_are_computed_afresh_are_the_same_and_are_not_kept(opened: Any) -> None:
    embedder = opened()
    embedder.ensure(TEXTS[:3], "passage")
    before = embedder.report()
    afresh = embedder.embed_afresh(TEXTS, "passage").vectors
    assert embedder.report().computed == before.computed == 3
    assert embedder.report().seconds["forward"] > before.seconds["forward"]
    np.testing.assert_allclose(afresh, embedder.lookup(TEXTS, "passage").vectors, atol=2e-6)


def test_twins_keep_a_vector_per_role(opened: Any, tiny_dragon: Tiny) -> None:
    embedder = opened(spec=tiny_dragon.spec)
    embedder.ensure(["we met in the park"], "passage")
    embedder.ensure(["we met in the park"], "query")
    assert embedder.report().computed == 2


def test_windows_change_nothing_but_memory(opened: Any, tiny_bge: Tiny, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cached_embedder, "WINDOW", 4)
    monkeypatch.setattr(cached_embedder, "BLOCK", 2)
    embedder = opened()
    read = 0
    ahead = []

    def stream() -> Iterator[str]:
        nonlocal read
        for text in TEXTS:
            read += 1
            ahead.append(read - embedder.report().computed)
            yield text

    embedder.ensure(stream(), "passage")
    assert max(ahead) <= 6
    embedded = embedder.lookup(TEXTS, "passage")
    np.testing.assert_allclose(embedded.vectors, independent(tiny_bge, TEXTS, "passage"), atol=2e-6)


def test_the_longest_texts_of_a_window_come_first(opened: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    widths = []

    def watched(rows: Any, pad_id: int, original: Any = choice.pad_batch) -> Any:
        widths.append((len(rows), max(map(len, rows))))
        return original(rows, pad_id)

    monkeypatch.setattr(choice, "pad_batch", watched)
    embedder = opened()
    embedder.ensure(TEXTS, "passage")
    tokens = sorted(embedder.lookup(TEXTS, "passage").tokens.tolist(), reverse=True)
    assert widths == [(8, 512), (4, tokens[8])]


def test_tokens_are_the_true_length_and_cut_is_where_the_window_ends(opened: Any, tiny_bge: Tiny) -> None:
    embedded = opened().lookup(TEXTS, "passage")
    for text, tokens, cut in zip(TEXTS, embedded.tokens, embedded.cut, strict=True):
        ids = tiny_bge.tokenizer(text)["input_ids"]
        assert tokens == len(ids)
        if len(ids) <= 512:
            assert cut == len(text)
        else:
            assert tiny_bge.tokenizer(text[:cut])["input_ids"] == [*ids[:511], ids[-1]]


def test_a_prefix_is_read_by_the_model_but_not_counted_in_the_cut(opened: Any, tiny_bge: Tiny) -> None:
    spec = replace(tiny_bge.spec, query_prefix="the cat ")
    plain, prefixed = opened().lookup(TEXTS, "query"), opened(spec=spec).lookup(TEXTS, "query")
    both = independent(tiny_bge, ["the cat " + text for text in TEXTS], "query")
    np.testing.assert_allclose(prefixed.vectors, both, atol=2e-6)
    assert prefixed.tokens[0] > plain.tokens[0]
    assert prefixed.cut[0] == len(TEXTS[0])
    assert 0 < prefixed.cut[2] < plain.cut[2]


def test_lookup_returns_rows_in_the_order_of_the_texts_with_repeats(opened: Any) -> None:
    embedder = opened()
    embedder.ensure(TEXTS, "passage")
    embedded = embedder.lookup([TEXTS[3], TEXTS[0], TEXTS[3]], "passage")
    np.testing.assert_array_equal(embedded.vectors[0], embedded.vectors[2])
    assert np.abs(embedded.vectors[0] - embedded.vectors[1]).max() > 0.01
    assert embedder.lookup([], "passage").vectors.shape == (0, 32)


def test_time_spent_embedding_is_counted_once(opened: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    active: list[str] = []

    @contextmanager
    def part(self: Stopwatch, name: str, original: Any = Stopwatch.part) -> Iterator[None]:
        assert active == []
        active.append(name)
        with original(self, name):
            yield
        active.clear()

    monkeypatch.setattr(Stopwatch, "part", part)
    embedder = opened()
    embedder.ensure(["a cat"], "passage")
    assert list(embedder.report().seconds) == ["tokenise", "load", "forward"]


class Interrupted(Silent):
    """A progress that raises Ctrl-C once so many texts are done."""

    def __init__(self, after: int) -> None:
        self.left = after

    @contextmanager
    def stage(self, name: str, total: int | None, unit: str) -> Iterator[Advance]:
        def advance(done: int) -> None:
            self.left -= done
            if self.left <= 0:
                raise KeyboardInterrupt

        yield advance if name.startswith("embedding") else lambda done: None


def test_ctrl_c_keeps_every_finished_batch(opened: Any, tiny_bge: Tiny) -> None:
    texts = [sentence(5 + seed, seed) for seed in range(24)]
    embedder = opened(progress=Interrupted(after=16))
    with pytest.raises(KeyboardInterrupt):
        embedder.ensure(texts, "passage")
    embedder.close()
    resumed = opened()
    resumed.ensure(texts, "passage")
    assert (resumed.report().reused, resumed.report().computed) == (16, 8)
    np.testing.assert_allclose(
        resumed.lookup(texts, "passage").vectors, independent(tiny_bge, texts, "passage"), atol=2e-6
    )


def test_a_damaged_vector_is_computed_anew_and_reported(opened: Any, tmp_path: Path) -> None:
    embedder = opened()
    before = embedder.lookup(TEXTS, "passage").vectors
    embedder.close()
    [file] = (tmp_path / "cache" / "vectors").glob("*/vectors.f32")
    body = bytearray(file.read_bytes())
    body[130] ^= 64
    file.write_bytes(bytes(body))
    again = opened()
    np.testing.assert_allclose(again.lookup(TEXTS, "passage").vectors, before, atol=2e-6)
    report = again.report()
    assert (report.computed, report.reused) == (1, 11)
    assert report.notes == ("1 damaged record(s) in the vector cache were computed anew",)


def test_half_a_surrogate_pair_is_refused_by_position(opened: Any) -> None:
    with pytest.raises(InputError, match="passage text 2 \\(counted from 0\\)") as caught:
        opened().ensure(["a cat", "a dog", "a \ud83d mat"], "passage")
    assert not opened().reuse(["a \ud83d mat"], "passage")
    assert caught.value.found == "a lone surrogate at character 2"


CHILD = """
import json, sys
from pathlib import Path
from recallbench.embedding.registry import open_embedder
from recallbench.embedding.encoders import read_spec
spec = read_spec("tiny", json.loads(sys.argv[1]))
embedder = open_embedder(spec, cache_dir=Path(sys.argv[2]), backend=sys.argv[3])
embedder.ensure(json.loads(sys.argv[4]), "passage")
vectors = embedder.lookup(json.loads(sys.argv[4]), "passage").vectors
heavy = {"torch", "transformers", "sentence_transformers", "openvino", "tokenizers"} & set(sys.modules)
print(json.dumps([sorted(heavy), embedder.fingerprint_sha256, embedder.report().computed, float(vectors.sum())]))
"""


def child(tiny: Tiny, environ: dict[str, str], cache: Path, backend: str, home: Path) -> list[Any]:
    (home / "tmp").mkdir(exist_ok=True)
    own = {"HOME": str(home), "TMPDIR": str(home / "tmp"), "PYTHONPATH": os.pathsep.join(sys.path)}
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("TORCHINDUCTOR")}
    done = subprocess.run(
        [sys.executable, "-c", CHILD, table_of(tiny.spec), str(cache), backend, json.dumps(TEXTS)],
        env={**inherited, **environ, **own},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    printed: list[Any] = json.loads(done.stdout)
    return printed


NOWHERE = {"HF_ENDPOINT": "http://127.0.0.1:9", "HF_HOME": "/nowhere", "HF_HUB_OFFLINE": "1"}
"""Neither the hub nor its cache is needed again, though some hashes were not pinned but recorded."""


def test_a_cached_run_loads_nothing_heavy_and_needs_no_weights(tiny_dragon: Tiny, opened: Any, tmp_path: Path) -> None:
    embedder = opened(spec=read_spec("tiny", json.loads(table_of(tiny_dragon.spec))))
    embedder.ensure(TEXTS, "passage")
    total = float(embedder.lookup(TEXTS, "passage").vectors.sum())
    assert embedder.report().computed == 12
    embedder.close()
    again = child(tiny_dragon, NOWHERE, tmp_path / "cache", "torch", tmp_path)
    assert again == [[], embedder.fingerprint_sha256, 0, total]


@pytest.mark.marked
def test_a_run_that_loads_both_engines_leaves_nothing_but_the_cache(
    tiny_dragon: Tiny, environ: dict[str, str], tmp_path: Path
) -> None:
    first = child(tiny_dragon, environ, tmp_path / "cache", "openvino", tmp_path)
    assert {"torch", "openvino"} <= set(first[0])  # torch runs the proof
    assert first[2] == 12
    second = child(tiny_dragon, NOWHERE, tmp_path / "cache", "openvino", tmp_path)
    assert second == [[], first[1], 0, first[3]]
    # Left to itself, OpenVINO's import reports home and leaves a folder in the user's home.
    assert not (tmp_path / "intel").exists()
    # And importing torch makes a folder for compiled kernels in the system's temporary one.
    assert list((tmp_path / "tmp").iterdir()) == []


@pytest.mark.parametrize("link", ["vectors", "vectors/{}"])
def test_a_cache_that_leads_elsewhere_is_refused_and_nothing_is_written_there(
    opened: Any, tmp_path: Path, link: str
) -> None:
    opened().ensure(["a cat"], "passage")
    [own] = (tmp_path / "cache" / "vectors").iterdir()
    linked, repository = tmp_path / "cache" / link.format(own.name), tmp_path / "repository"
    shutil.rmtree(linked)
    repository.mkdir()
    (repository / "index").write_bytes(b"of git")
    linked.symlink_to(repository)
    with pytest.raises(InputError, match="the vector cache leads elsewhere"):
        opened().ensure(["a cat"], "passage")
    assert {path.name: path.read_bytes() for path in repository.iterdir()} == {"index": b"of git"}
