"""Rankings judged by the name of a session, whatever its haystack, as old baselines did."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from recallbench.scoring.judgement import Judged, judge


def judge_by_session(returned: Sequence[Sequence[str]], gold: Sequence[Collection[str]], depth: int) -> Judged:
    """Judge rankings of session names by the names that are gold.

    A gold name counts once, at its first place; a name that comes again keeps its place as a miss. A gold name that no
    segment bears still counts as gold. Chance and ceiling of these judgements mean nothing.
    """
    rankings, golden, sizes = [], [], []
    for names, gold_names in zip(returned, gold, strict=True):
        open_gold = {name: number for number, name in enumerate(sorted(set(gold_names)))}
        count = len(open_gold)
        rankings.append([open_gold.pop(name, count + place) for place, name in enumerate(names)])
        golden.append(frozenset(range(count)))
        sizes.append(count + len(names))
    return judge(rankings, golden, sizes, depth)
