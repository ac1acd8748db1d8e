"""Memories that the golden results were measured with."""


def open_words(items, vectors):
    """Ranks by the question's words: what holds the first one, then the second, and so on."""

    def search(query, k):
        found = [item.id for word in query.text.split() for item in items if word in item.text.split()]
        return [(id, -place) for place, id in enumerate(dict.fromkeys(found))][:k]

    return search


def open_faulty(items, vectors):
    """Fails at questions of the weather."""

    def search(query, k):
        if "rain" in query.text:
            raise ValueError("no answer")
        return [(item.id, -item.id / 8) for item in items][:k]

    return search


open_words.needs_vectors = open_faulty.needs_vectors = False
