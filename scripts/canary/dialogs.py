"""The canary in LoCoMo's shape."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from canary.dice import Dice
from canary.texts import TEXTS, THREADS, first_upper, named

PAIRS = (("Nadia", "Tom"), ("Ines", "Karim"), ("Ruth", "Felix"), ("Mina", "Olaf"))
SESSIONS = (19, 24, 28, 32)
MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)

Turn = dict[str, Any]


def conversation(number: int) -> dict[str, Any]:
    """Return one pair of friends, six threads of their lives, and the questions about them."""
    dice = Dice(f"conversation {number}")
    pair = PAIRS[number]
    threads = THREADS[6 * number : 6 * number + 6]
    count = SESSIONS[number]
    facts = [(thread, fact, pair[place // 3]) for place, thread in enumerate(threads) for fact in thread["facts"]]
    spread = dice.draw(range(count), 12) + dice.draw(range(count), 6)
    tellings: dict[int, list[tuple[Any, Any, str]]] = {}
    for (thread, fact, who), session in zip(dice.draw(facts, len(facts)), spread, strict=True):
        tellings.setdefault(session, []).append((thread, fact, who))
    start = datetime(2023, 1 + 2 * number, 3, 9, 12)
    moments = [start + timedelta(days=9 * i + dice.below(6), minutes=dice.below(660)) for i in range(count)]
    talk: dict[str, Any] = {"speaker_a": pair[0], "speaker_b": pair[1]}
    where: dict[str, str] = {}
    for session in range(count):
        turns = dialog(session, pair, threads, tellings.get(session, []), where, dice)
        talk[f"session_{session + 1}_date_time"] = spoken_time(moments[session])
        talk[f"session_{session + 1}"] = turns
    if number == 0:
        # As in the real file: dates of sessions that aren't there.
        talk[f"session_{count + 1}_date_time"] = spoken_time(moments[-1] + timedelta(days=9))
    when = {fact["say"]: moments[session] for session, group in tellings.items() for _, fact, _ in group}
    return {
        "qa": questions(number, pair, threads, where, when),
        "conversation": talk,
        "event_summary": {
            f"events_session_{session + 1}": {
                name: [
                    first_upper(f"{name} {fact['past'].format(their='their')}.")
                    for _, fact, who in group
                    if who == name
                ]
                for name in pair
            }
            | {"date": spoken_time(moments[session]).split(" on ")[1]}
            for session, group in sorted(tellings.items())
        },
        "observation": {
            f"session_{session + 1}_observation": {
                name: [[first_upper(fact["say"]) + ".", where[fact["say"]]] for _, fact, who in group if who == name]
                for name in pair
            }
            for session, group in sorted(tellings.items())
        },
        "session_summary": {
            f"session_{session + 1}_summary": f"{pair[0]} and {pair[1]} talked on {spoken_time(moments[session])}."
            for session in range(count)
        },
        "sample_id": f"canary-{number + 1}",
    }


def dialog(
    session: int, pair: tuple[str, str], threads: Any, tellings: Any, where: dict[str, str], dice: Dice
) -> list[Turn]:
    """A session's turns; notes in `where` which turn tells each fact."""
    talk = TEXTS["talk"]
    turns: list[Turn] = []

    def say(who: str, text: str) -> None:
        turn: Turn = {"speaker": who, "dia_id": f"D{session + 1}:{len(turns) + 1}", "text": text}
        if dice.below(9) == 0:
            caption = dice.pick(talk["captions"])
            turn |= {"img_url": ["https://images.example/1.jpg"], "blip_caption": caption, "query": caption[13:]}
        turns.append(turn)

    first = dice.below(2)
    first_speaker, second_speaker = pair[first], pair[1 - first]
    say(first_speaker, dice.pick(talk["greetings"]).format(name=second_speaker))
    say(second_speaker, dice.pick(talk["answers"]))
    # In half of the sessions one asks about a thread of their lives and learns nothing: the words that also stand in
    # the sessions that matter.
    for thread in dice.draw(threads, dice.below(2)):
        say(first_speaker, f"{dice.pick(talk['chatter'])} {dice.pick(thread['asks'])}")
        say(second_speaker, f"{dice.pick(TEXTS['advice']['steps'])} {dice.pick(talk['chatter'])}")
    # A third of the sessions is longer than what an encoder sees of it in 512 tokens.
    # Session 9 has at least the 17 turns that a repair of the evidence names.
    extra = 14 if session == 8 else 12 if session % 3 == 2 else 1 + dice.below(4)
    slots = sorted(dice.below(min(extra, 9)) for _ in tellings)
    for step in range(extra):
        who, other = (first_speaker, second_speaker) if step % 2 == 0 else (second_speaker, first_speaker)
        sentence = (
            f"{dice.pick(talk['musings'])} {dice.pick(talk['chatter'])}" if extra >= 12 else dice.pick(talk["chatter"])
        )
        say(who, sentence)
        for slot, (thread, fact, teller) in zip(slots, tellings, strict=True):
            if slot == step:
                where[fact["say"]] = f"D{session + 1}:{len(turns) + 1}"
                say(teller, f"{dice.pick(talk['lead_ins'])} {fact['say']}.")
                listener = other if other != teller else who
                say(listener, dice.pick(talk["reactions"]))
                if dice.below(6):
                    say(teller, f"That's what you get from {thread['topic']}: {fact['answer']}.")
                    say(listener, dice.pick(talk["answers"]))
    say(first_speaker, dice.pick(talk["closings"]))
    return turns


def questions(
    number: int, pair: tuple[str, str], threads: Any, where: dict[str, str], when: Any
) -> list[dict[str, Any]]:
    """The questions of a conversation, in all five categories."""
    questions: list[dict[str, Any]] = []

    def ask(text: str, answer: Any, evidence: list[str], category: int) -> None:
        key = "adversarial_answer" if category == 5 else "answer"
        questions.append({"question": text, key: answer, "evidence": evidence, "category": category})

    for place, thread in enumerate(threads):
        who, other = pair[place // 3], pair[1 - place // 3]
        spots = [where[fact["say"]] for fact in thread["facts"]]
        hint = f"Speaking of {thread['topic']}: "
        for turn, (fact, spot) in enumerate(zip(thread["facts"], spots, strict=True)):
            ask(named(fact["ask"], who, hint if (place + turn) % 5 else ""), fact["answer"], [spot], 4)
        ask(named(thread["multi"], who), thread["multi_answer"], spots, 1)
        dated, spot = thread["facts"][place % 3], spots[place % 3]
        answer = spoken_time(when[dated["say"]]).split(" on ")[1]
        ask(
            named(f"on what date was it that {{who}} {dated['past']}?", who, hint if place % 2 else ""),
            answer,
            [spot],
            2,
        )
        if place % 2 == 0:
            ask(named(thread["open"], who), thread["open_answer"], spots[:2], 3)
        swapped = thread["facts"][(place + 1) % 3]
        ask(named(swapped["ask"], other, hint), swapped["answer"], [spots[(place + 1) % 3]], 5)
    if number == 0:
        # The real file's oddities, so that the bundled corpora walk the same paths.
        ask(f"Which of the two, {pair[0]} or {pair[1]}, sleeps better?", "Nobody says", [], 3)
        ask(f"What do {pair[0]} and {pair[1]} say about their days?", "They are busy", ["D8:6; D9:17"], 1)
        ask(f"How did {pair[1]} greet {pair[0]} in the fourth week?", "Warmly", ["D4:1", "D4:36"], 4)
    return questions


def spoken_time(moment: datetime) -> str:
    clock = f"{moment.hour % 12 or 12}:{moment.minute:02} {'am' if moment.hour < 12 else 'pm'}"
    return f"{clock} on {moment.day} {MONTHS[moment.month - 1]}, {moment.year}"
