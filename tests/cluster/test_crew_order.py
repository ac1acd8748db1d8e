"""Results in order wait for the slowest of them: what is done meanwhile has a bound."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from recallbench.cluster.connection import ClusterNode, RayCluster
from recallbench.cluster.crew import FURTHEST, Crew, Member, Ticket
from recallbench.cluster.job import Done
from recallbench.progress import Silent


class SlowAndFast(Crew):
    """Two workers, the first of which answers when the second has nothing to do."""

    def __init__(self) -> None:
        super().__init__(cast(RayCluster, SimpleNamespace(ray=None)), cast(Any, None), {}, "doubling", Silent())
        self._members = [Member(ClusterNode(name, name, 1, 0), None, None, 0.0) for name in ("slow", "fast")]
        self.begun: list[int] = []
        self.ahead: list[int] = []

    def _look_at_nodes(self) -> None: ...

    def _give(self, member: Member, ticket: Ticket) -> None:
        self.begun.append(ticket.place)
        member.given.append((ticket, ticket))

    def _next_answers(self) -> list[tuple[Member, Any]]:
        slow, fast = self._members
        busy = fast if fast.given else slow
        if busy is slow:
            self.ahead.append(self.begun[-1] - busy.given[0][1].place)
        return [(busy, busy.given[0][0])]

    def _answer(self, ref: Any) -> Any:
        return Done(2 * ref.item)


def test_nothing_is_begun_far_ahead_of_a_slow_worker() -> None:
    crew = SlowAndFast()
    assert [value for value, _ in crew.in_order(range(200), str)] == [2 * number for number in range(200)]
    assert crew.begun == list(range(200))
    assert max(crew.ahead) == crew.ahead[0] == 2 * FURTHEST - 1


def test_results_in_any_order_wait_for_nobody() -> None:
    crew = SlowAndFast()
    assert len(list(crew.work(range(200), str))) == 200
    assert crew.ahead[0] == 199
