"""The pace of an encoder is kept for whoever does not wait for the encoder."""

from __future__ import annotations

from pathlib import Path

import pytest

from recallbench.embedding.memo import Memo
from recallbench.runs.forecast.forecast import MachinePace
from recallbench.runs.forecast.kept_pace import Paced, recall_pace, remember_pace
from recallbench.runs.forecast.work import RunWork, Stratum

MINILM = Paced("minilm", 256)
FOUND = MachinePace(
    2.0,
    1e-7,
    encoder_start=3.0,
    texts=((Stratum(50, 100.0), 0.2), (Stratum(50, 300.0), 0.9)),
    encoder_memory=5e8,
    tokens_per_character=0.25,
    limit=400,
)


def test_what_was_found_holds_for_other_texts_and_for_a_machine_that_gives_less(tmp_path: Path) -> None:
    remember_pace(Memo(tmp_path), MINILM, FOUND)
    work = RunWork(missing=[800] * 9)
    told = recall_pace(Memo(tmp_path), MINILM, work, MachinePace(6.0, 3e-7))
    assert told is not None
    # 200 tokens are half-way between what was tried: .0025 s a token, three times as slow as then.
    ((first, one), *more) = told.texts
    assert first.tokens == 200
    assert one == pytest.approx(200 * 0.0025 * 3)
    assert sum(group.texts for group, _ in told.texts) == 9
    assert all(seconds == pytest.approx(one) for _, seconds in more)
    assert (told.encoder_start, told.encoder_memory, told.plain, told.per_character) == (9.0, 5e8, 6.0, 3e-7)


def test_nothing_is_known_of_another_encoder_or_from_a_record_of_another_form(tmp_path: Path) -> None:
    memo = Memo(tmp_path)
    remember_pace(memo, MINILM, FOUND)
    assert recall_pace(memo, MINILM, RunWork(missing=[8]), FOUND) is not None
    for other in ({"name": "mpnet"}, {"max_tokens": 512}, {"dtype": "bf16"}, {"backend": "torch"}):
        assert recall_pace(memo, MINILM._replace(**other), RunWork(missing=[8]), FOUND) is None
    (record,) = tmp_path.iterdir()
    record.write_text(record.read_text().replace('"plain": 2.0', '"plain": 0'))
    assert recall_pace(memo, MINILM, RunWork(missing=[8]), FOUND) is None
