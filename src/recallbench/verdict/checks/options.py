"""What was asked for, and what was done."""

from collections.abc import Iterator, Mapping
from typing import Any

from recallbench.stores.weights import DEFAULT_WEIGHTS, parse_weights
from recallbench.verdict.case import Case
from recallbench.verdict.examination import Examination, listed
from recallbench.verdict.gate import Finding

_ALWAYS = frozenset({"corpus", "version", "store", "embedder", "weights", "call", "limit", "depth", "pooled"})


def options(case: Case) -> Finding:
    asked, made = case.environment.get("options"), case.metrics
    if not isinstance(asked, Mapping):
        return Finding("fail", "environment.json holds no options")
    if lacking := sorted(_ALWAYS - asked.keys()):
        return Finding("fail", f"environment.json says nothing of the options {', '.join(lacking)}")
    variant = any(asked.get(name) for name in ("weights", "function", "dates", "ranker"))
    pairs: dict[str, tuple[Any, Any]] = {
        "corpus": (asked.get("corpus"), made.corpus.name),
        "version": (asked.get("version"), made.store.asked_version),
        "depth": (asked.get("depth"), made.retrieval.depth),
        "pooled": (asked.get("pooled"), made.retrieval.scope == "pooled"),
        "reproduce": (asked.get("reproduce"), made.reproduction),
    }
    for name, value in (("store", made.store.name), ("embedder", made.embedder and made.embedder.name)):
        if asked.get(name) is not None:
            pairs[name] = (asked[name], value)
    limit = asked.get("limit")
    # A limit that reaches all questions is none.
    if limit is None or (isinstance(limit, int) and limit < made.corpus.questions - made.retrieval.left_out):
        pairs["limit"] = (limit, made.retrieval.limit)
    if asked.get("weights") is not None and parse_weights(str(asked["weights"])) != DEFAULT_WEIGHTS:
        pairs["variant"] = (True, bool(made.store.variant))
    found = [f"{name}: {one} asked for, {other} stated" for name, (one, other) in pairs.items() if one != other]
    if made.retrieval.failed and asked.get("keep_going") is not True:
        found.append(f"keep_going: not asked for, and {len(made.retrieval.failed)} questions are stated to have failed")
    if made.store.variant and not variant:
        found.append(f"variant: {made.store.variant} stated, nothing like it asked for")
    found += _command(case.environment.get("command"), asked)
    return listed(found, "what was asked for is what metrics.json states")


def _command(words: Any, asked: Mapping[str, Any]) -> Iterator[str]:
    """Where the command line names an option, the options have it."""
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words) or words[:1] != ["recallbench"]:
        yield "environment.json holds no command"
        return
    if words[1:2] == ["run"] and asked.get("corpus") not in words:
        yield f"the command does not name {asked.get('corpus')}"
    for word, following in zip(words, [*words[1:], ""], strict=True):
        flag, equals, value = word.removeprefix("--").partition("=")
        name = {"scope": "pooled", "pgmnemo-function": "function", "pgmnemo-dates": "dates"}.get(flag, flag)
        if not word.startswith("--") or name not in asked or name in ("dsn", "version"):
            continue  # a version is held to the store's by a gate; `versions` names several
        told = value if equals else following
        stated = asked[name]
        is_ = ("pooled" if stated else "own") if name == "pooled" else str(stated)
        if told != is_ and name in (
            "store",
            "embedder",
            "weights",
            "depth",
            "limit",
            "pooled",
            "function",
            "dates",
            "reproduce",
        ):
            yield f"--{flag} {told} in the command, {is_} in the options"


OPTIONS = Examination("RB-OPTIONS", "options", "the command's options and the result agree", options)
