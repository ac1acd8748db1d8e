"""The outcome of `recallbench costs`: the JSON document, and the other forms of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Literal

from pydantic import Field

from recallbench import __version__
from recallbench.escaping.markdown import opening
from recallbench.reports.cells import share
from recallbench.reports.conclusions.names import listed
from recallbench.reports.part import DocumentPart
from recallbench.reports.printing.conclusion import Conclusion
from recallbench.reports.table import Part, Table
from recallbench.scoring.costs import LEDGERS, CostLine, LedgerName, Ledgers, Money, Prices, history_break_even
from recallbench.usage import Usage

BESIDE = "measuring"
"""What judges used: it is spent on the measurement, and is in none of the four ledgers."""

LEAST = 1e-6
"""What is less than that is told to be so: nobody reads ten noughts, or pays for them."""


class LinePart(DocumentPart):
    """One quantity."""

    ledger: str
    what: str
    unit: str
    model: str = Field(description="of tokens")
    quantity: float = Field(description="of tokens all together")
    tokens: dict[str, int] | None = Field(description="by what they cost, as the endpoint counted them")
    amount: float | None = Field(description="null where there is no price; of bytes by the month")
    at_least: bool = Field(description="there was more of it, which was kept from an earlier run and not counted")


class UnitPart(DocumentPart):
    """What one of something costs."""

    what: str
    count: float = Field(description="how many there are in the result")
    running: float | None = Field(description="of the ledgers query and generate")
    whole: float | None = Field(description="with ingest and index shared out among them")
    unpriced: list[str] = Field(description="what has no price, or was not counted, and is not in it")
    running_unpriced: list[str] = Field(description="the same of `running` alone")


class HitRatePart(DocumentPart):
    """How often something was kept from an earlier run, and so cost nothing."""

    what: str
    hits: int
    of: int
    share: float | None


class BreakEvenPart(DocumentPart):
    """From which question on a memory is cheaper."""

    prompts: Literal["uncached", "cached"]
    question: int | None = Field(description="null where it never is")
    memory: float = Field(description="what a question costs with it, context included")
    history: float = Field(description="what a question costs with the whole history, after the first")
    last: int | None = Field(description="the last question up to which a memory is cheaper; null where it stays so")


class EstimatesPart(DocumentPart):
    """Figures that rest on a count of tokens that no endpoint made."""

    by: str
    context: int = Field(description="hits that a model is given, or would be")
    context_tokens: float = Field(description="of a question, on average")
    history_tokens: float = Field(description="of a question's whole haystack, on average")
    model: str
    break_even: list[BreakEvenPart] = Field(description="empty where the model has no price")
    unpriced: list[str] = Field(description="what a memory used that has no price and is left out")


class CostDocument(DocumentPart):
    """What a result used, and what that costs."""

    schema_version: Literal["1"]
    recallbench_version: str
    result: str
    date: str = Field(description="of the prices")
    currency: str
    prices: str = Field(description="which prices they are")
    lines: list[LinePart]
    per: list[UnitPart]
    hit_rates: list[HitRatePart]
    context_tokens: float | None = Field(
        description="of a prompt of the answering model, on average, as its endpoint counted; null where none answers"
    )
    estimates: EstimatesPart | None
    unstated: list[str] = Field(description="stores that did not say how many bytes they hold")


def cost_document(result: str, ledgers: Ledgers, prices: Prices, answering: str = "") -> CostDocument:
    """Return what these ledgers cost; `answering` is a model that the context is sent to, in place of the list's."""
    lines: list[tuple[str, CostLine]] = [(name, line) for name in LEDGERS for line in ledgers.lines[name]]
    lines += [(BESIDE, line) for line in ledgers.beside]
    prompts = [line.quantity.prompt for line in ledgers.lines["generate"] if isinstance(line.quantity, Usage)]
    return CostDocument(
        schema_version="1",
        recallbench_version=__version__,
        result=result,
        date=prices.date,
        currency=prices.currency,
        prices=prices.source,
        lines=[_line(name, line, prices) for name, line in lines],
        per=_units(ledgers, prices),
        hit_rates=[HitRatePart(what=r.what, hits=r.hits, of=r.of, share=r.share) for r in ledgers.hit_rates],
        context_tokens=sum(prompts) / ledgers.questions if prompts and ledgers.questions else None,
        unstated=list(ledgers.unstated),
        estimates=_estimates(ledgers, prices, answering or ledgers.answering or prices.answering),
    )


def _line(ledger: str, line: CostLine, prices: Prices) -> LinePart:
    usage = line.quantity if isinstance(line.quantity, Usage) else None
    return LinePart(
        ledger=ledger,
        what=line.what,
        unit=line.unit,
        model=line.model,
        quantity=usage.prompt + usage.output if usage is not None else float(line.quantity),  # type: ignore[arg-type]
        tokens=None if usage is None else usage.document(),
        amount=line.price(prices),
        at_least=line.at_least,
    )


def _units(ledgers: Ledgers, prices: Prices) -> list[UnitPart]:
    asking: tuple[LedgerName, ...] = ("query", "generate")
    units: list[tuple[str, float, float, tuple[LedgerName, ...]]] = [
        ("query", ledgers.questions, 1, asking),
        ("1,000 queries", ledgers.questions, 1000, asking),
        (f"gold segment found among the first {ledgers.k}", ledgers.gold_found, 1, ("query",)),
        *((f"answer that {judge} found right", correct, 1, asking) for judge, correct in ledgers.correct.items()),
    ]
    parts = []
    for what, count, times, names in units:
        running = ledgers.sum(prices, *names).per(count / times)
        whole = ledgers.sum(prices, "ingest", "index", *names).per(count / times)
        parts.append(
            UnitPart(
                what=what,
                count=count,
                running=running.amount,
                whole=whole.amount,
                unpriced=list(whole.unpriced),
                running_unpriced=list(running.unpriced),
            )
        )
    return parts


def _estimates(ledgers: Ledgers, prices: Prices, model: str) -> EstimatesPart | None:
    lengths, price = ledgers.lengths, prices.model(model)
    if lengths is None:
        return None
    setup, query = ledgers.sum(prices, "ingest", "index"), ledgers.sum(prices, "query")
    of_one, of_question = (_known(each) for each in (setup.per(ledgers.haystacks), query.per(ledgers.questions)))
    found = {} if price is None else history_break_even(of_one, of_question, lengths, price)
    return EstimatesPart(
        by="tokens as the encoder counts them" if lengths.counted else "tokens of four characters each",
        context=ledgers.context,
        context_tokens=lengths.context,
        history_tokens=lengths.history,
        model=model,
        break_even=[BreakEvenPart(prompts=prompts, **asdict(each)) for prompts, each in found.items()],
        unpriced=list(dict.fromkeys((*setup.unpriced, *query.unpriced))),
    )


def _known(money: Money) -> float:
    return money.amount or 0.0


def ledger_table(document: CostDocument) -> Table:
    """Return a row for each quantity."""
    rows = [(line.ledger, line.what, line.model, _quantity(line), _price(line)) for line in document.lines]
    return Table(("ledger", "what", "model", "quantity", document.currency), rows, caption="What was used")


def unit_table(document: CostDocument) -> Table:
    """Return a row for each unit."""
    rows = [
        (
            unit.what,
            f"{unit.count:,.6g}",
            _partly(unit.running, unit.running_unpriced),
            _partly(unit.whole, unit.unpriced),
        )
        for unit in document.per
    ]
    head = ("per", "of", f"running, {document.currency}", f"with ingest and index, {document.currency}")
    return Table(head, rows, caption="What one of them costs")


def sentences(document: CostDocument) -> list[str]:
    """Return how the tables are read, what was kept from before, and the estimates, each called that."""
    lines = [
        "what is stored is paid by the month, and is in no sum",
        "processor seconds are those of this process, and of the database server where a line says so",
        *(f"bytes that are stored: not stated by {name}" for name in document.unstated),
        *_kept(document),
        "tokens are those of all answers, as when they were asked for: a kept one cost nothing in this run",
    ]
    unpriced = sorted({what for unit in document.per for what in unit.unpriced})
    if unpriced:
        lines.append(f"without a count or a price, and in no sum: {', '.join(unpriced)}; --prices FILE gives prices")
    for rate in document.hit_rates:
        lines.append(f"kept from before: {rate.hits} of {rate.of} {rate.what} ({share(rate.share)})")
    if document.context_tokens is not None:
        lines.append(f"the answering model was sent {document.context_tokens:,.0f} tokens for a question on average")
    return lines + (_estimated(document, document.estimates) if document.estimates is not None else [])


def _kept(document: CostDocument) -> list[str]:
    kept = dict.fromkeys(line.what for line in document.lines if line.at_least)
    if not kept:
        return []
    return [
        f"at least: {', '.join(kept)} took more, in the earlier run that kept vectors; an empty --cache-dir counts all"
    ]


def _estimated(document: CostDocument, estimates: EstimatesPart) -> list[str]:
    lines = [
        f"estimate, by {estimates.by}: the first {estimates.context} hits hand on {estimates.context_tokens:,.0f} "
        f"tokens for a question, the whole history has {estimates.history_tokens:,.0f}"
    ]
    if not estimates.break_even:
        model = estimates.model or "a model that answers"
        return [*lines, f"no break-even: {model} has no price; --answering names another"]
    without = f", not counting {', '.join(estimates.unpriced)}" if estimates.unpriced else ""
    for each in estimates.break_even:
        told = "every prompt is read anew" if each.prompts == "uncached" else "the endpoint keeps the history"
        if each.question is None:
            when = "a memory never costs less than sending the whole history"
        elif each.last is None:
            when = f"from question {each.question} on a memory costs less than sending the whole history"
        else:
            when = (
                f"up to question {each.last} a memory costs less than sending the whole history, from question "
                f"{each.last + 1} on it costs more"
            )
        lines.append(
            f"estimate for {estimates.model}, where {told}: {when} ({_amount(each.memory)} against "
            f"{_amount(each.history)} {document.currency} a question{without})"
        )
    return [*lines, "another model that is sent the hits, or the history: --answering NAME"]


def title(document: CostDocument) -> str:
    """Return what the tables are of."""
    return f"{document.result}: what it used, and what that costs at prices of {document.date} ({document.prices})"


def conclusion(document: CostDocument) -> Conclusion:
    """Return what a thousand queries cost, and what of it is not known."""
    thousand = next(unit for unit in document.per if unit.what == "1,000 queries")
    if thousand.running is None:
        happened = "What a query costs is not known"
    else:
        of_all = "" if thousand.whole is None else f", {_amount(thousand.whole)} with ingest and index shared out"
        happened = f"1,000 queries cost {_amount(thousand.running)} {document.currency}{of_all}"
    if thousand.unpriced:
        belief = f"at the least: {listed(thousand.unpriced, 1)} has no price or was not counted"
        return Conclusion(happened, belief, "name prices of your own with --prices FILE", tone="open")
    return Conclusion(happened, f"by prices of {document.date} ({document.prices}), quantities as recorded")


def parts(document: CostDocument) -> list[Part]:
    """Return lines and tables for a terminal."""
    return [title(document), "", ledger_table(document), "", unit_table(document), "", *sentences(document)]


def markdown(document: CostDocument) -> str:
    """Return the same in Markdown."""
    tables = [line for table in (ledger_table(document), unit_table(document)) for line in (*table.markdown(), "")]
    return "\n".join([opening(title(document)), "", *tables, *(f"- {opening(s)}" for s in sentences(document)), ""])


def sheet(document: CostDocument) -> Table:
    """Return every quantity with its amount, for a spreadsheet."""
    sorts = ("fresh", "cache_read", "cache_write", "output")
    rows = [
        (
            *(line.ledger, line.what, line.model, line.unit, f"{line.quantity:.10g}"),
            *("" if line.tokens is None else str(line.tokens[sort]) for sort in sorts),
            *("" if line.amount is None else f"{line.amount:.10g}", document.currency, document.date),
        )
        for line in document.lines
    ]
    return Table(("ledger", "what", "model", "unit", "quantity", *sorts, "amount", "currency", "prices of"), rows)


def _quantity(line: LinePart) -> str:
    return ("at least " if line.at_least else "") + _counted(line)


def _price(line: LinePart) -> str:
    return _amount(line.amount, monthly=line.unit == "bytes", at_least=line.at_least)


def _counted(line: LinePart) -> str:
    if line.tokens is not None:
        told: Sequence[str] = [f"{count:,} {sort.replace('_', ' ')}" for sort, count in line.tokens.items() if count]
        return f"{', '.join(told) or '0'} tokens"
    digits = 0 if line.unit == "bytes" else 3
    return f"{line.quantity:,.{digits}f} {line.unit}"


def _partly(amount: float | None, unpriced: Sequence[str]) -> str:
    return _amount(amount, at_least=bool(unpriced))


def _amount(amount: float | None, *, monthly: bool = False, at_least: bool = False) -> str:
    """Return money with three digits that count, as far as anybody can read them; a dash where it is not known."""
    if amount is None:
        return "–"
    digits = 2 if amount >= 1 or amount == 0 else 2 - math.floor(math.log10(amount))
    told = f"{'at least ' if at_least else ''}{amount:,.{digits}f}"
    if 0 < amount < LEAST:
        told = "at least 0" if at_least else f"under {LEAST:.6f}"
    return f"{told}{' a month' if monthly else ''}"
