"""The least that a memory under test has: `recallbench run locomo --store python:examples.my_memory:Memory`."""


class Memory:
    """Finds the texts that share the most words with a question."""

    def __init__(self) -> None:
        self.notes: dict[str, set[str]] = {}

    def add(self, id: str, text: str) -> None:
        self.notes[id] = set(text.lower().split())

    def search(self, query: str, k: int) -> list[str]:  # ids, best first
        words = set(query.lower().split())
        return sorted(self.notes, key=lambda id: -len(self.notes[id] & words))[:k]
