"""The canary in LongMemEval's shape."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from canary.dice import Dice
from canary.texts import TEXTS, THREADS, first_upper, mine

LARGE = (60, 53, 57, 52)
"""Haystacks with more than 50 sessions, the depth to which rankings are kept."""

WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")

Turn = dict[str, Any]


def user(text: str) -> Turn:
    return {"role": "user", "content": text}


def assistant(text: str) -> Turn:
    return {"role": "assistant", "content": text}


def counsel(dice: Dice, steps: int) -> str:
    advice = TEXTS["advice"]
    return " ".join([dice.pick(advice["openers"]), *dice.draw(advice["steps"], steps), dice.pick(advice["closers"])])


def chat(thread: Any, dice: Dice, *, long: bool = False) -> list[Turn]:
    """Return a chat in which somebody asks for advice and says nothing of themselves."""
    turns = [user(dice.pick(thread["asks"])), assistant(counsel(dice, 2 + dice.below(2)))]
    for _ in range(5 if long else dice.below(2)):
        thanks = dice.pick(TEXTS["advice"]["thanks"])
        turns += [user(f"{thanks} {dice.pick(thread['asks'])}"), assistant(counsel(dice, 5 if long else 1))]
    return turns


def telling(say: str, about: Any, dice: Dice, *, long: bool = False) -> list[Turn]:
    """A fact, dropped in passing while something else is talked about."""
    turns = chat(about, dice, long=long)
    lead = dice.pick(TEXTS["talk"]["lead_ins"])
    thanks = dice.pick(TEXTS["advice"]["thanks"])
    turns.append(user(f"{thanks} {lead} {say}.") | {"has_answer": True})
    turns.append(assistant(f"{dice.pick(TEXTS['talk']['reactions'])} {dice.pick(TEXTS['advice']['closers'])}"))
    return marked(turns)


def marked(turns: list[Turn]) -> list[Turn]:
    return [{**turn, "has_answer": turn.get("has_answer", False)} for turn in turns]


def retelling(say: str, dice: Dice) -> list[Turn]:
    """The same words out of somebody else's mouth: nearly a duplicate, and no evidence."""
    relative = dice.pick(TEXTS["advice"]["relatives"])
    return [
        user(f'{relative} wrote to me: "{first_upper(say)}." What would you reply?'),
        assistant(f"Perhaps: {dice.pick(TEXTS['talk']['reactions'])}"),
    ]


def fillers() -> list[tuple[str, list[Turn]]]:
    """The pool that every haystack draws from; its first sessions are long."""
    dice = Dice("fillers")
    pool = []
    for number in range(168):
        turns = chat(THREADS[number % len(THREADS)], dice, long=number < 6)
        if number == 40:
            turns.append(user(""))
        pool.append((f"chat_{hashlib.sha256(str(number).encode()).hexdigest()[:8]}_{number % 3 + 1}", turns))
    return pool


def items() -> list[dict[str, Any]]:
    """Return all questions with their haystacks."""
    dice = Dice("items")
    questions: list[dict[str, Any]] = []
    pool = fillers()

    def add(
        kind: str, question: str, answer: Any, golds: list[list[Turn]], lures: list[list[Turn]], *, abs_: bool = False
    ) -> None:
        name = hashlib.sha256(f"{kind} {question}".encode()).hexdigest()[:8] + ("_abs" if abs_ else "")
        number = len(questions)
        size = LARGE[number // 12] if number % 12 == 5 else 15 + dice.below(15)
        sessions = [(f"answer_{name}_{i + 1}", turns) for i, turns in enumerate(golds)]
        sessions += [(f"near_{name}_{i + 1}", turns) for i, turns in enumerate(lures)]
        order = dice.draw([*sessions, *dice.draw(pool, size - len(sessions))], size)
        if kind in ("knowledge-update", "temporal-reasoning"):
            # What happened in this order is also told in this order.
            spots = sorted(i for i, session in enumerate(order) if session in sessions[: len(golds)])
            for spot, session in zip(spots, sessions[: len(golds)], strict=True):
                order[spot] = session
        if number % 16 == 3:
            # As in the real file: a filler session that is listed twice.
            order.append(next(session for session in order if session[0].startswith("chat_")))
        moment = datetime(2023, 1 + dice.below(6), 1 + dice.below(27), 8, dice.below(60))
        dates = []
        for _ in order:
            moment += timedelta(days=dice.below(4), hours=1 + dice.below(11), minutes=dice.below(60))
            dates.append(stamp(moment))
        questions.append(
            {
                "question_id": name,
                "question_type": kind,
                "question": question,
                "question_date": stamp(moment + timedelta(days=2 + dice.below(9))),
                "answer": answer,
                "answer_session_ids": [session for session, _ in sessions[: len(golds)]],
                "haystack_dates": dates,
                "haystack_session_ids": [session for session, _ in order],
                "haystack_sessions": [turns for _, turns in order],
            }
        )

    def other() -> Any:
        return dice.pick(THREADS)

    def lures(thread: Any, without: Sequence[Any]) -> list[list[Turn]]:
        """Sessions that share the subject or the very words, and don't answer."""
        rest = [telling(fact["say"], other(), dice) for fact in thread["facts"] if fact not in without]
        return [
            *([{"role": t["role"], "content": t["content"]} for t in turns] for turns in rest),
            *(chat(thread, dice) for _ in range(2)),
            *([retelling(without[0]["say"], dice)] if dice.below(2) else []),
        ]

    for place, thread in enumerate(THREADS[:11]):
        fact = thread["facts"][place % 3]
        gold = telling(fact["say"], thread if place % 2 else other(), dice, long=place % 3 == 0)
        add("single-session-user", mine(fact["ask"]), fact["answer"], [gold], lures(thread, [fact]))
    for thread in THREADS[11:18]:
        golds = [
            telling(fact["say"], about, dice)
            for fact, about in zip(thread["facts"], (thread, other(), other()), strict=True)
        ]
        near = [*(chat(thread, dice) for _ in range(2)), retelling(thread["facts"][1]["say"], dice)]
        add("multi-session", mine(thread["multi"]), thread["multi_answer"], golds, near)
    for place, thread in enumerate(THREADS[16:24]):
        first, second = thread["facts"][place % 3], thread["facts"][(place + 1) % 3]
        question = mine(f"Which came first: that {{who}} {first['past']}, or that {{who}} {second['past']}?")
        golds = [telling(fact["say"], other(), dice, long=place % 4 == 1) for fact in (first, second)]
        add("temporal-reasoning", question, "the former", golds, lures(thread, [first, second]))
    for place, update in enumerate(TEXTS["updates"]):
        golds = [telling(update[key], other(), dice, long=place == 2) for key in ("old", "new")]
        near = [retelling(update["old"], dice), *(chat(other(), dice) for _ in range(3))]
        add("knowledge-update", update["ask"], update["answer"], golds, near)
    for wish in TEXTS["assistant"]:
        turns = [*chat(other(), dice), user(wish["wish"]), assistant(wish["told"]) | {"has_answer": True}]
        near = [[user(wish["wish"]), assistant(counsel(dice, 3))], [user(wish["wish"]), assistant(counsel(dice, 2))]]
        add("single-session-assistant", wish["ask"], wish["answer"], [marked(turns)], near)
    for liking in TEXTS["preference"]:
        near = [[user(liking["ask"]), assistant(counsel(dice, 3))], retelling(liking["say"], dice)]
        gold = telling(f"about {liking['topic']}, {liking['say']}", other(), dice)
        add("single-session-preference", liking["ask"], liking["answer"], [gold], near)
    for unasked in TEXTS["abstention"]:
        gold = telling(unasked["say"], other(), dice)
        for turn in gold:
            turn["has_answer"] = False
        near = [retelling(unasked["say"], dice)]
        add(unasked["type"], unasked["ask"], "You did not mention this.", [gold], near, abs_=True)
    return questions


def stamp(moment: datetime) -> str:
    return f"{moment:%Y/%m/%d} ({WEEKDAYS[moment.weekday()]}) {moment:%H:%M}"
