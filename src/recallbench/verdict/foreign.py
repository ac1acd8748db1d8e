"""Audits a folder that this tool did not write: what its published numbers turn out to be, and what can't be told."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from recallbench.corpora.registry import CORPORA, open_corpus
from recallbench.errors import Blocked, InputError
from recallbench.protocol.frozen import load
from recallbench.protocol.rules import CorpusRules, Rules
from recallbench.results.folder import BLOCKED
from recallbench.results.layouts.dataset import Dataset, index, names_a_turn, session_name
from recallbench.results.layouts.layout import Claim, Imported
from recallbench.results.layouts.registry import recognised
from recallbench.results.layouts.rescoring import OFFICIAL, Field, field
from recallbench.scoring.judgement import Bools
from recallbench.scoring.multiverse import (
    DEPTHS,
    Cell,
    Definition,
    Denominator,
    View,
    bounds,
    cells,
    definitions,
    printed_decimals,
)
from recallbench.verdict.audit import Audit
from recallbench.verdict.decision import decide
from recallbench.verdict.definitions import named, origin
from recallbench.verdict.gate import Check, Status

CODES: Mapping[str, str] = {
    "RB-F-BLOCKED": "no BLOCKED.md and no DEPRECATED.md lies in the folder",
    "RB-F-FACTS": "the folder states dataset hash, version, seed and settings",
    "RB-F-DATASET": "the stated dataset hash is the registered one",
    "RB-F-CORPUS": "the corpus file that gold is derived from has the registered hash",
    "RB-F-ROWS": "rankings are kept, and every row can be read",
    "RB-F-QUESTIONS": "each question of the protocol's count is there once, and no other",
    "RB-F-COUNTS": "stated counts are those of the rows",
    "RB-F-GOLD": "stated gold is what the dataset gives",
    "RB-F-UNIT": "ids are those of sessions, not of turns",
    "RB-F-SCOPE": "every retrieved id can belong to its question's own scope",
    "RB-F-TWICE": "no ranking lists an id twice",
    "RB-F-DEPTH": "rankings are kept to min(50, haystack)",
    "RB-F-ORDER": "scores, where kept, fall from place to place",
    "RB-F-FIRST": "the stated rank of each first hit is that of the kept list",
    "RB-F-STATED": "figures that rows state of themselves are re-derived, and under which definition",
    "RB-F-CLAIM": "a published number is reproduced, and means what the protocol means by its name",
    "RB-F-BROKEN": "every check could be made: one that broke down is a failed one",
    "RB-F-INTERVAL": "published intervals are re-derived, and count questions as dependent where they are",
}
"""What each code of a check on a foreign folder stands for."""

_FACTS = ("dataset_sha256", "pgmnemo_version", "seed", "guc_state")
_NAMED = 5
"""How many questions a check names before it only counts them."""
_DEPRECATED = "DEPRECATED.md"
_PROTOCOL_DEPTH = 50


@dataclass(frozen=True, slots=True)
class _Case:
    imported: Imported
    field: Field
    dataset: Dataset | None
    corpus: CorpusRules | None
    rules: Rules
    why_no_dataset: str


def audit_foreign(folder: Path, corpus_file: Path | None, environ: Mapping[str, str]) -> Audit:
    """Check a foreign folder; raises InputError when no layout fits it. It never writes there."""
    layout = recognised(folder)
    if layout is None and (folder / BLOCKED).exists():
        blocked = _blocked(folder)
        return Audit(folder, (blocked,), decide((blocked,), ()), ("layout: nothing but that it is blocked",))
    if layout is None:
        raise InputError(
            f"{folder} is not in a form that this tool reads",
            expected="metrics.json with rows, a TREC run with qrels, or LongMemEval's retrieval log",
            found=", ".join(sorted(path.name for path in folder.iterdir())[:8]) if folder.is_dir() else "no folder",
            remedy="name the folder that holds these files",
        )
    deviations = (f"layout: {layout.name}, not written by this tool",)
    blocked = _blocked(folder)
    try:
        imported = layout.read(folder)
    except InputError as error:
        unreadable = _check("RB-F-ROWS", "rows readable", "fail", f"{error.problem}: {error.found}")
        return Audit(folder, (blocked, unreadable), decide((blocked, unreadable), deviations), deviations)
    rules = load()
    corpus = _corpus_rules(imported, corpus_file, rules)
    dataset, why = dataset_of(imported, corpus_file, rules, environ)
    case = _Case(imported, field(imported, dataset), dataset, corpus, rules, why)
    checks = (blocked, *_guarded(_facts, case), *_guarded(_rows, case), *_guarded(_claims, case))
    return Audit(folder, checks, decide(checks, deviations), deviations)


def _check(code: str, name: str, status: Status, observed: str, required: str = "", needed: bool = True) -> Check:
    return Check(name, status, required or CODES[code], observed, code=code, needed=needed)


def _guarded(look: Callable[[_Case], Iterator[Check]], case: _Case) -> Iterator[Check]:
    """Its checks; where one breaks down, a failed check says so and the rest of them are not made."""
    try:
        yield from look(case)
    except Exception as error:  # noqa: BLE001 - whatever a hostile folder makes of a check, it has not passed it
        told = f"{type(error).__name__}: {error}".replace("\n", " ")[:300]
        yield _check("RB-F-BROKEN", "checks made", "fail", f"one of the {look.__name__.strip('_')} broke down: {told}")


def _held(code: str, name: str, wrong: Sequence[str], right: str, needed: bool = True) -> Check:
    return _check(code, name, "fail" if wrong else "pass", _few(wrong) if wrong else right, needed=needed)


def _few(told: Sequence[str]) -> str:
    rest = len(told) - _NAMED
    return "; ".join(told[:_NAMED]) + (f"; and {rest} more" if rest > 0 else "")


def _blocked(folder: Path) -> Check:
    found = [name for name in (BLOCKED, _DEPRECATED) if (folder / name).exists() or (folder / name).is_symlink()]
    # The verdict knows this check by its name.
    return _held("RB-F-BLOCKED", "BLOCKED absent", [f"{name} is there" for name in found], "neither is there")


def _corpus_rules(imported: Imported, corpus_file: Path | None, rules: Rules) -> CorpusRules | None:
    registered = {name: entry.facts(rules) for name, entry in CORPORA.items()}
    stated = imported.facts.get("dataset_sha256", "")
    by_hash = next((facts for facts in registered.values() if facts.sha256 == stated), None)
    if by_hash is not None:
        return by_hash
    if imported.corpus in registered:
        return registered[imported.corpus]
    if corpus_file is not None:
        return next((facts for facts in registered.values() if facts.file == corpus_file.name), None)
    return None


def dataset_of(
    imported: Imported, file: Path | None, rules: Rules, environ: Mapping[str, str]
) -> tuple[Dataset | None, str]:
    """The dataset a folder is over, else why it can't be had; raises InputError for a file that can't be read."""
    corpus = _corpus_rules(imported, file, rules)
    if corpus is None:
        return None, "the folder does not say which dataset it is over"
    try:
        opened = open_corpus(corpus.name, rules=rules, environ=environ, file=file, allow_dataset_deviation=True)
        return index(opened, corpus.sha256), ""
    except Blocked as error:
        return None, f"{error.problem}: --corpus-file names the file"


def _facts(case: _Case) -> Iterator[Check]:
    stated = case.imported.facts
    missing = [name for name in _FACTS if name not in stated]
    told = ", ".join(f"{name} {stated[name]}" for name in ("version", *_FACTS[1:]) if name in stated)
    yield _check(
        "RB-F-FACTS",
        "facts stated",
        "fail" if missing else "pass",
        (f"not stated: {', '.join(missing)}" if missing else "all stated") + (f"; stated: {told}" if told else ""),
    )
    hash, corpus = stated.get("dataset_sha256", ""), case.corpus
    if not hash or corpus is None:
        yield _check("RB-F-DATASET", "dataset hash", "cannot-tell", "no dataset hash is stated")
    else:
        yield _check("RB-F-DATASET", "dataset hash", "pass" if hash == corpus.sha256 else "fail", hash, corpus.sha256)
    if case.dataset is None:
        yield _check("RB-F-CORPUS", "corpus file", "cannot-tell", case.why_no_dataset)
    else:
        right = case.dataset.registered
        yield _check("RB-F-CORPUS", "corpus file", "pass" if right else "fail", f"sha256 {case.dataset.sha256}")


def _rows(case: _Case) -> Iterator[Check]:
    imported, asked = case.imported, case.imported.questions
    if not asked:
        yield _check("RB-F-ROWS", "rows readable", "fail", _few(imported.untold))
        return
    yield _check("RB-F-ROWS", "rows readable", "pass", f"{len(asked)} rows of {imported.rows}")
    yield _questions(case)
    yield _counts(case)
    yield _gold(case)
    turns = [one.id for one in asked if any(map(names_a_turn, (*one.ranked, *one.gold)))]
    listed = any(names_a_turn(id) for one in asked for id in one.ranked)
    yield _held(
        "RB-F-UNIT",
        "unit",
        [f"turns were ranked, not sessions: {len(turns)} questions, such as {turns[0]}"] if listed else [],
        "no id is that of a turn",
    )
    yield _scope(case)
    yield _twice(case)
    short = imported.depth and imported.depth < _PROTOCOL_DEPTH
    yield _check(
        "RB-F-DEPTH",
        "depth kept",
        "cannot-tell" if short else "pass",
        f"rows keep {imported.depth} ids: figures beyond can only be bounded" if short else "rankings are kept whole",
    )
    yield _order(case)
    yield from _first(case)
    yield from _stated(case)


def _questions(case: _Case) -> Check:
    asked = case.imported.questions
    wrong = [f"{id} comes {times} times" for id, times in Counter(one.id for one in asked).items() if times > 1]
    if case.dataset is None:
        expected = case.corpus.with_evidence if case.corpus else 0
        if wrong or (expected and len(asked) not in (expected, case.corpus.questions if case.corpus else 0)):
            wrong.append(f"{len(asked)} rows, {expected} expected")
            return _held("RB-F-QUESTIONS", "questions complete", wrong, "")
        return _check(
            "RB-F-QUESTIONS",
            "questions complete",
            "cannot-tell",
            f"{len(asked)} rows, none twice; which they should be, the dataset tells",
        )
    known = case.field.known
    strange = [f"{one.id} is not in the dataset" for one, its in zip(asked, known, strict=True) if its is None]
    if strange and not case.dataset.registered and not wrong:
        told = f"the corpus file is not the registered one, and lacks questions: {_few(strange)}"
        return _check("RB-F-QUESTIONS", "questions complete", "cannot-tell", told)
    wrong += strange
    there = Counter(its.id for its in known if its)
    wrong += [f"{id} is asked {times} times" for id, times in there.items() if times > 1]
    missing = [its.id for its in case.dataset.questions if its.gold and its.id not in there]
    wrong += [f"{id} is missing" for id in missing]
    return _held("RB-F-QUESTIONS", "questions complete", wrong, f"{len(asked)} rows, each a question of the dataset")


def _counts(case: _Case) -> Check:
    asked, facts = case.imported.questions, case.imported.facts
    wrong = [
        f"{name} says {facts[name]}, there are {len(asked)} rows"
        for name in ("n_questions_with_evidence", "n_evaluated")
        if name in facts and facts[name] != str(len(asked))
    ]
    segments = facts.get("n_corpus_segments", "")
    if case.corpus is not None and segments and segments != str(case.corpus.segments):
        wrong.append(f"n_corpus_segments says {segments}, the protocol registers {case.corpus.segments}")
    wrong += [
        f"{claim.where} counts {claim.n} for {claim.name}, there are {len(asked)} rows"
        for claim in case.imported.claims
        if not claim.slice and not claim.quoted and claim.n is not None and claim.n > len(asked)
    ]
    return _held("RB-F-COUNTS", "counts", wrong, "no stated count contradicts the rows")


def _gold(case: _Case) -> Check:
    if case.dataset is None:
        return _check("RB-F-GOLD", "gold as derived", "cannot-tell", case.why_no_dataset)
    wrong = []
    for one, its in zip(case.imported.questions, case.field.known, strict=True):
        if its is None:
            continue
        stated = {case.dataset.locate(id)[1] for id in one.gold}
        if stated != its.gold:
            wrong.append(f"{one.id} states {_set(stated)}, the dataset gives {_set(its.gold)}")
    return _held("RB-F-GOLD", "gold as derived", [f"{len(wrong)} questions: {_few(wrong)}"] if wrong else [], "alike")


def _set(names: set[str] | frozenset[str]) -> str:
    return "{" + ", ".join(sorted(names)) + "}"


def _scope(case: _Case) -> Check:
    leaks = case.field.leaks
    if leaks:
        questions = len({leak.question for leak in leaks})
        told = [f"{leak.question} lists {leak.id}: {leak.why}" for leak in leaks]
        return _check("RB-F-SCOPE", "ids in scope", "fail", f"{questions} questions: {_few(told)}")
    if case.field.scoping == "unknown":
        return _check(
            "RB-F-SCOPE", "ids in scope", "cannot-tell", "ids do not name their scope, nor does a dataset tell"
        )
    told_by = "each id names its scope" if case.field.scoping == "named" else "no id contradicts its question's scope"
    return _check("RB-F-SCOPE", "ids in scope", "pass", told_by)


def _twice(case: _Case) -> Check:
    wrong, open_ = [], []
    for one, its in zip(case.imported.questions, case.field.known, strict=True):
        repeated = [id for id, times in Counter(one.ranked).items() if times > 1]
        if not repeated:
            continue
        held: Mapping[str, int] | None = Counter(one.haystack) if one.haystack is not None else None
        if held is None and case.dataset is not None and its is not None:
            held = case.dataset.sessions[its.scope]
        # A haystack may hold a session twice (clarification 6); a conversation never does.
        if held is None and not one.scope:
            open_.append(f"{one.id} lists {repeated[0]} more than once")
        elif held is None or any(held.get(session_name(id), held.get(id, 0)) < 2 for id in repeated):
            wrong.append(f"{one.id} lists {repeated[0]} more than once")
    if wrong or not open_:
        return _held("RB-F-TWICE", "doubled ids", [f"{len(wrong)} rankings: {_few(wrong)}"] if wrong else [], "none")
    return _check("RB-F-TWICE", "doubled ids", "cannot-tell", f"a haystack may hold it twice: {_few(open_)}")


def _order(case: _Case) -> Check:
    scored = [one for one in case.imported.questions if one.scores]
    if not scored:
        return _check("RB-F-ORDER", "scores ordered", "cannot-tell", "rows keep no scores", needed=False)
    wrong = [one.id for one in scored if any(a < b for a, b in zip(one.scores, one.scores[1:], strict=False))]
    return _held("RB-F-ORDER", "scores ordered", [f"{id} rises" for id in wrong], f"in {len(scored)} rankings")


def _first(case: _Case) -> Iterator[Check]:
    asked = case.imported.questions
    stated = [one for one in asked if one.first is not None]
    if not stated:
        return
    wrong = []
    for one in stated:
        golden = set(one.gold)
        place = next((rank for rank, id in enumerate(one.ranked, start=1) if id in golden), 0)
        fits = place == one.first or (not place and (one.first or 0) > len(one.ranked))
        if not fits:
            wrong.append(f"{one.id} states {one.first or 'none'}, its list has {place or 'none'}")
        reciprocal = one.stated.get("mrr")
        if reciprocal is not None and abs(reciprocal - (1 / one.first if one.first else 0.0)) > 1e-4:
            wrong.append(f"{one.id} states mrr {reciprocal} beside first rank {one.first}")
    deeper = sum(1 for one in stated if (one.first or 0) > len(one.ranked))
    yield _held(
        "RB-F-FIRST",
        "first hits as kept",
        wrong,
        f"{len(stated)} agree with their lists; {deeper} lie deeper than what was kept and are only stated",
    )


def _stated(case: _Case) -> Iterator[Check]:
    """Figures of single questions, each held against every definition of its name."""
    asked = case.imported.questions
    official = next((view for view in case.field.views if view.name == OFFICIAL), case.field.views[0])
    names = dict.fromkeys(name for one in asked for name in one.stated if name != "mrr")
    for name in names:
        meant = named(name)
        if not meant.family or meant.k is None:
            continue
        rows = np.array([name in one.stated for one in asked], dtype=np.bool_)
        values = np.array([one.stated.get(name, 0.0) for one in asked])
        agreeing = []
        closest = (0, Definition("", 1))
        for definition in definitions((*DEPTHS, meant.k)):
            if not meant.follows(definition):
                continue
            low, high = bounds(definition, official)
            same = rows & (low - 1e-4 <= values) & (values <= high + 1e-4)
            # LongMemEval's program finds all of nothing.
            same |= rows & (official.judged.gold == 0) & (values == 1.0) & (definition.kind == "recall_all")
            closest = max(closest, (int(same.sum()), definition))
            if same.sum() == rows.sum():
                agreeing.append(str(definition))
        told = f"of each row is {' or '.join(agreeing)}"
        if not agreeing:
            told = f"follows no definition in all rows: {closest[1]} in {closest[0]} of {int(rows.sum())}"
        yield _check("RB-F-STATED", f"row field {name}", "pass" if agreeing else "fail", f"{name} {told}")


def _claims(case: _Case) -> Iterator[Check]:
    claims = case.imported.claims
    if not claims:
        return
    asked = bool(case.imported.questions)
    digits = max((_decimals(claim) for claim in claims if _decimals(claim) <= 6), default=4)
    depths = {*DEPTHS, *(k for claim in claims if (k := named(claim.name).k) and k <= 100)}
    wanted = definitions(depths)
    table = cells(case.field.views, wanted, case.field.denominators) if asked else []
    reproduced: list[tuple[Claim, View, Definition, Bools]] = []
    for claim in claims:
        name = f"published {claim.name}" + (f", {claim.slice}" if claim.slice else "")
        if claim.quoted:
            yield _claim(claim, name, "cannot-tell", f"{claim.value} is told of another run", needed=False)
        elif not asked:
            yield _claim(claim, name, "cannot-tell", f"{claim.value}: not one ranking was kept")
        else:
            part, label, mask = table, "", np.ones(len(case.imported.questions), dtype=np.bool_)
            if claim.slice:
                label, mask, part = _slice(case, claim, digits)
            if not part:
                yield _claim(
                    claim, name, "cannot-tell", f"{claim.value}: which questions are {claim.slice} can't be told"
                )
                continue
            found = origin(
                claim.name,
                claim.value,
                part,
                case.field.own_view,
                max(digits, _decimals(claim)) if claim.decimals is None else claim.decimals,
                contradicted=case.field.scoping == "contradicted",
            )
            if found.follows and found.follows[0].protocol:
                first = found.follows[0]
                view = next(view for view in case.field.views if view.name == first.scope)
                reproduced.append((claim, view, first.definition, mask))
            yield _claim(claim, name, found.status, found.text + (f" [{label}]" if label else ""))
    if any(claim.low is not None for claim in claims):
        yield _intervals(case, reproduced, digits)


def _decimals(claim: Claim) -> int:
    return printed_decimals(claim.value) if claim.decimals is None else claim.decimals


def _claim(claim: Claim, name: str, status: Status, observed: str, needed: bool = True) -> Check:
    return _check("RB-F-CLAIM", name, status, f"{observed} ({claim.where})", needed=needed)


def _slice(case: _Case, claim: Claim, digits: int) -> tuple[str, Bools, list[Cell]]:
    """The part of the questions that a label means: by name, else by count, where only its figure can decide."""
    slices = case.field.slices
    wanted = _plain(claim.slice)
    by_name = [label for label in slices if _plain(label.partition(" ")[2]) == wanted]
    by_count = [label for label, mask in slices.items() if claim.n is not None and int(mask.sum()) == claim.n]
    candidates = [label for label in by_name if claim.n is None or label in by_count] or by_count or by_name
    best: tuple[str, Bools, list[Cell]] | None = None
    for label in candidates:
        mask = slices[label]
        part = cells(
            case.field.views,
            definitions((*DEPTHS, named(claim.name).k or 1)),
            [Denominator(label, mask, protocol=True)],
        )
        found = origin(claim.name, claim.value, part, case.field.own_view, max(digits, _decimals(claim)))
        note = f"{claim.slice} is {label}{_kind_of(case, label)}"
        if best is None or found.follows:
            best = (note, mask, part)
        if found.follows:
            break
    return best or ("", np.zeros(len(case.imported.questions), dtype=np.bool_), [])


def _kind_of(case: _Case, label: str) -> str:
    """What the dataset calls a category that rows give by number (clarification 3)."""
    number = label.removeprefix("category ")
    if label.startswith("category ") and number.isdigit() and int(number) in case.rules.locomo_kinds:
        return f", which the dataset calls {case.rules.locomo_kinds[int(number)]}"
    return ""


def _plain(text: str) -> str:
    return "".join(letter for letter in text.lower() if letter.isalnum())


def _intervals(case: _Case, reproduced: Sequence[tuple[Claim, View, Definition, Bools]], digits: int) -> Check:
    """Whether intervals are mean and 1.96 standard errors, cut at 0 and 1."""
    tried, wrong = 0, []
    for claim, view, definition, mask in reproduced:
        if claim.low is None or claim.high is None:
            continue
        low, high = bounds(definition, view)
        kept = mask & (view.judged.gold > 0)
        values = low[kept]
        if len(values) < 2 or float((high - low)[kept].max(initial=0.0)) > 1e-9:
            continue
        tried += 1
        half = 1.96 * float(np.std(values, ddof=1)) / math.sqrt(len(values))
        mean, slack = float(values.mean()), 1.5 * 10.0 ** -min(digits, max(3, printed_decimals(claim.low)))
        if abs(max(0.0, mean - half) - claim.low) > slack or abs(min(1.0, mean + half) - claim.high) > slack:
            wrong.append(f"{claim.name}{' ' + claim.slice if claim.slice else ''} [{claim.low}, {claim.high}]")
    if not tried:
        return _check(
            "RB-F-INTERVAL", "intervals", "cannot-tell", "no number they belong to is reproduced", needed=False
        )
    form = "the normal one over questions taken as independent"
    if wrong:
        return _check("RB-F-INTERVAL", "intervals", "cannot-tell", f"not {form}: {_few(wrong)}", needed=False)
    clustered = case.corpus is not None and case.corpus.name.endswith("locomo")
    return _check(
        "RB-F-INTERVAL",
        "intervals",
        "fail" if clustered else "pass",
        f"{tried} are {form}" + (", which those of one conversation are not (clarification 10)" if clustered else ""),
        needed=False,
    )
