"""Addresses that no cluster is at, by the real command line."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from commandline import recallbench

RUN = ("run", "canary-locomo", "--store", "exact", "--embedder", "minilm", "--max-tokens", "64", "--backend", "torch")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--ray-address", "127.0.0.1:6379"), "--ray-address goes with --engine ray"),
        (("--engine", "ray", "--ray-address", "somewhere"), "--ray-address is no address of a Ray cluster"),
        (("--engine", "ray", "--ray-address", "ray://host:1/"), "--ray-address is no address of a Ray cluster"),
    ],
)
def test_an_address_that_makes_no_sense_is_refused(tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    refused = recallbench(*RUN, *words, cwd=tmp_path)
    assert refused.returncode == 2
    assert said in refused.stderr


def test_an_address_without_a_cluster_is_refused_at_once(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and nobody listens there
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        words = ("--cache-dir", "cache", "--out", "out", "--engine", "ray", "--ray-address", address)
        refused = recallbench(*RUN, *words, cwd=tmp_path)
    assert refused.returncode == 3
    assert f"there is no Ray cluster at {address}" in refused.stderr
    assert "without --engine ray the same command does all in this process" in refused.stderr
    assert not any((tmp_path / "cache").glob("vectors/*/vectors.f32"))
