"""An option of a store, declared once, in that store's file: commands, help, checks and audits follow from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from recallbench.errors import UsageError
from recallbench.nearest_name import nearest_name


@dataclass(frozen=True, slots=True)
class StoreOption:
    """An option of a store, as in `--set name=value`; values are text, as they are typed and recorded."""

    name: str
    help: str
    """What it decides, in one line without a full stop."""
    default: str | None = None
    """The value of a run that does not set it; None where it must be set."""
    values: tuple[str, ...] = ()
    """The values that there are; empty where `parse` decides."""
    parse: Callable[[str], Any] = str
    """Turns a text into the value that a store works with; raises ValueError or UsageError where it can't."""
    deviation: str | None = None
    """The words for a value other than the default in a result, `{}` being the value.

    None: the option's name; empty: the value departs from nothing."""
    flag: str = ""
    """A name of its own on the command line, from before --set; environment.json has it as a key then."""

    @property
    def description(self) -> str:
        """The help text: what it decides, and its default."""
        labelled = "" if self.deviation == "" else "; others are deviations"
        return self.help + (f" [default: {self.default}{labelled}]" if self.default else "")

    @property
    def typed(self) -> str:
        """Return the option as a user types it, without its value."""
        return f"--{self.flag}" if self.flag else f"--set {self.name}"

    def read(self, options: Mapping[str, Any]) -> Any:
        """The value that these options give it, or its default."""
        text = options.get(self.name)
        if text is None:
            text = self.default
        return None if text is None else self.value(str(text))

    def check(self, text: str) -> None:
        """Raise UsageError unless the text is a value of this option."""
        if self.values and text not in self.values:
            near = nearest_name(text, self.values)
            raise UsageError(
                f"{self.typed} {text} is not known",
                expected=", ".join(self.values),
                found=text,
                remedy=f"you may mean {near}" if near else "",
            )
        self.value(text)

    def value(self, text: str) -> Any:
        """Return the value of a text; raises UsageError where it can't be read."""
        try:
            return self.parse(text)
        except ValueError as error:
            raise UsageError(f"{self.typed} {text} can't be read", expected=self.help, found=str(error)) from None

    def departure(self, text: str) -> str:
        """Return the words for a store with this value; empty for the default."""
        value = self.value(text)
        if self.deviation == "" or (self.default is not None and value == self.parse(self.default)):
            return ""
        return (self.deviation or f"{self.name} {{}}").format(value)


def read_assignments(texts: list[str]) -> dict[str, str]:
    """Read `name=value` texts, as --set has them; raises UsageError where one is none."""
    options: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise UsageError(
                f"--set {text} can't be read",
                expected="NAME=VALUE",
                found=text,
                remedy="`recallbench stores NAME` lists the options of one; a class of your own takes its parameters",
            )
        if options.setdefault(name, value) != value:
            raise UsageError(f"--set {name} is given twice", expected="one value", found=value)
    return options
