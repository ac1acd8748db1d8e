"""Numbers by hashed keys say what a dict says, in a tenth of its memory."""

from __future__ import annotations

import random
import tracemalloc
from hashlib import sha256

import numpy as np
import pytest

from recallbench import key_numbers
from recallbench.key_numbers import KeyNumbers


def key(number: int) -> bytes:
    return sha256(str(number).encode()).digest()


def test_keys_have_the_number_that_they_were_given_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(key_numbers, "RECENT", 3)  # so that they are sorted in at every few
    draw, numbers, known = random.Random(1), KeyNumbers(), dict[int, int]()
    for step in range(400):
        some = [draw.randrange(60) for _ in range(draw.randrange(4))]
        numbers.update([key(one) for one in some], [step + place for place, _ in enumerate(some)])
        known.update({one: step + place for place, one in enumerate(some)})
        if known and step % 7 == 0:
            gone = draw.choice(list(known))
            numbers.remove(key(gone))
            del known[gone]
        assert [numbers.get(key(one)) for one in range(60)] == [known.get(one) for one in range(60)]
    assert (key(1000) in numbers, key(next(iter(known))) in numbers) == (False, True)
    assert (len(numbers), sorted(numbers.numbers().tolist())) == (len(known), sorted(known.values()))


def test_many_keys_are_numbered_by_their_beginnings() -> None:
    numbers = KeyNumbers()
    numbers.update([key(1), key(7)], [50, 60])
    numbers.update_many(np.array([int.from_bytes(key(number)[:8], "little") for number in (7, 8, 7)], np.uint64), 100)
    assert [numbers.get(key(number)) for number in (1, 7, 8, 9)] == [50, 102, 101, None]


def test_nothing_is_known_of_no_key() -> None:
    numbers = KeyNumbers()
    assert (len(numbers), numbers.get(key(1)), numbers.numbers().tolist()) == (0, None, [])


def test_a_key_takes_a_few_bytes() -> None:
    tracemalloc.start()
    numbers = KeyNumbers()
    for start in range(0, 100_000, 256):
        block = range(start, start + 256)
        numbers.update([key(number) for number in block], list(block))
    held = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert held < 30 * 100_000
