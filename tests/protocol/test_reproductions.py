"""The facts on record of published figures."""

import json
import re
from pathlib import Path

import pytest

from recallbench.errors import UsageError
from recallbench.protocol.frozen import load
from recallbench.protocol.reproductions import find_reproduction, reproductions

LOCOMO = find_reproduction("baseline-v0.2.1", "locomo")


def test_the_published_figures_are_the_protocols_baselines() -> None:
    for reproduction in reproductions():
        stated = load().corpora[reproduction.corpus].baselines
        assert {figure.figure: figure.frozen for figure in reproduction.published} == stated


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UsageError) as caught:
        find_reproduction("baseline-v9", "locomo")
    assert caught.value.expected == "baseline-v0.2.1 on locomo, baseline-v0.2.1 on longmemeval"


@pytest.mark.marked
@pytest.mark.real_data
def test_the_gold_that_is_listed_is_what_cutting_at_the_first_colon_gives(locomo_file: Path) -> None:
    differing, questions = {}, 0
    for conversation in json.loads(locomo_file.read_bytes()):
        for index, question in enumerate(conversation["qa"]):
            cut = {reference.split(":")[0] for reference in question["evidence"]}
            complete = {
                f"D{int(n)}" for reference in question["evidence"] for n in re.findall(r"D:?(\d+):\d+", reference)
            }
            questions += bool(cut)
            # `D30:05` needs no cure: its session is read the same way.
            if cut != complete:
                differing[f"{conversation['sample_id']}/q{index}"] = {
                    session.replace("D", "session_") for session in cut
                }
    assert differing == LOCOMO.gold
    assert questions == 1982
