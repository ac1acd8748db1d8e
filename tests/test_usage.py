"""Tokens as endpoints state them, each counted once."""

from __future__ import annotations

from typing import Any

import pytest

from recallbench.usage import Usage, usage_of


@pytest.mark.parametrize(
    ("stated", "expected"),
    [
        # OpenAI: kept tokens are some of the prompt's.
        (
            {"prompt_tokens": 100, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 64}},
            Usage(fresh=36, cache_read=64, output=7),
        ),
        (
            {"input_tokens": 100, "output_tokens": 7, "input_tokens_details": {"cached_tokens": 64}},
            Usage(fresh=36, cache_read=64, output=7),
        ),
        ({"prompt_tokens": 100, "completion_tokens": 7, "prompt_cache_hit_tokens": 90}, Usage(10, 90, 0, 7)),
        # Anthropic: they are further ones.
        (
            {
                "input_tokens": 100,
                "output_tokens": 7,
                "cache_read_input_tokens": 64,
                "cache_creation_input_tokens": 20,
            },
            Usage(100, 64, 20, 7),
        ),
        # One that passes Anthropic's on under OpenAI's names counts them once: its total tells how.
        (
            {"prompt_tokens": 184, "completion_tokens": 7, "total_tokens": 191, "cache_read_input_tokens": 64}
            | {"cache_creation_input_tokens": 20},
            Usage(100, 64, 20, 7),
        ),
        (
            {"prompt_tokens": 100, "completion_tokens": 7, "total_tokens": 191, "cache_read_input_tokens": 64}
            | {"cache_creation_input_tokens": 20},
            Usage(100, 64, 20, 7),
        ),
        # More kept ones than the prompt has can't be some of it.
        ({"prompt_tokens": 10, "completion_tokens": 7, "cache_read_input_tokens": 64}, Usage(10, 64, 0, 7)),
        # An embeddings endpoint.
        ({"prompt_tokens": 12, "total_tokens": 12}, Usage(fresh=12)),
        ({"total_tokens": 12}, Usage(fresh=12)),
        ({"prompt_tokens": 12, "completion_tokens": 3, "prompt_tokens_details": None}, Usage(fresh=12, output=3)),
        ({"prompt_tokens": True, "completion_tokens": "3"}, None),
        ({"prompt_tokens": -5}, None),
        ({}, None),
        (None, None),
    ],
)
def test_each_token_is_counted_once(stated: Any, expected: Usage | None) -> None:
    assert usage_of({"usage": stated}) == expected


def test_usage_adds_up_by_price() -> None:
    both = Usage(1, 2, 3, 4) + Usage(10, 20, 30, 40)
    assert (both, both.prompt) == (Usage(11, 22, 33, 44), 66)
    assert both.document() == {"fresh": 11, "cache_read": 22, "cache_write": 33, "output": 44}


@pytest.mark.parametrize("answer", [[], "usage", None, {"usage": [1]}])
def test_an_answer_of_another_form_states_no_usage(answer: Any) -> None:
    assert usage_of(answer) is None
