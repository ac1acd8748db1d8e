"""The graph store against a real Bolt server, which speaks the same Cypher as Neo4j as far as it is used here."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from math import log
from pathlib import Path
from typing import Any

import pytest

from bolt import PASSWORD, bolt_server, free_ports
from commandline import recallbench
from recallbench.errors import Blocked, InputError, UsageError
from recallbench.progress import Silent
from recallbench.stores.graph.graph import GraphStore
from recallbench.stores.registry import store_status
from recallbench.stores.store import Hit, Item, Query

MAY = datetime(2023, 5, 1, tzinfo=UTC)
JUNE = datetime(2023, 5, 31, tzinfo=UTC)  # 30 days later: one half-life
EVIL = "'}) DETACH DELETE (n) // \" ` \\ $tenant {{x}} \u0000 \ud800 日本語 \U0001f989"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    with bolt_server(tmp_path_factory.mktemp("bolt")) as environ:
        yield environ


@pytest.fixture
def rows(server: dict[str, str]) -> Iterator[Any]:
    """Asks the server directly."""
    import neo4j

    with neo4j.GraphDatabase.driver(server["NEO4J_URI"], auth=("root", PASSWORD)) as driver:
        yield lambda statement, **values: [
            tuple(record.values()) for record in driver.execute_query(statement, values, database_="mem").records
        ]


def filled(server: dict[str, str], items: list[Item], ranker: str = "neighbours") -> GraphStore:
    store = GraphStore(server, ranker)
    store.prepare(0)
    store.ingest(items, None)
    store.ready()
    return store


def session(id: int, text: str, scope: int = 1, importance: float = 0.5, at: datetime | None = None) -> Item:
    return Item(id, scope, text, at, importance)


FOUR = [session(1, "we met Ann"), session(2, "it rained"), session(3, "we met Bob"), session(4, "all quiet")]
LN4 = round(1000 * log(4)) / 1000


def test_shared_entities_and_neighbours_count(server: dict[str, str]) -> None:
    store = filled(server, FOUR)
    hits = store.search(Query(1, "Where did Bob go?", None), 4)
    assert [hit.id for hit in hits] == [3, 2, 4, 1]
    assert [hit.score for hit in hits] == pytest.approx([0.5 * LN4, 0.125 * LN4, 0.125 * LN4, 0])
    # Between Ann and Bob: what stands between both is a neighbour of both.
    hits = store.search(Query(1, "Ann or Bob?", None), 4)
    assert [(hit.id, round(hit.score / LN4, 3)) for hit in hits] == [(1, 0.5), (3, 0.5), (2, 0.25), (4, 0.125)]
    store.close()


def test_recency_halves_its_way_to_a_half(server: dict[str, str]) -> None:
    items = [session(1, "we met Ann", at=MAY), session(2, "x"), session(3, "x"), session(4, "x")]
    store = filled(server, items)
    (first, *_) = store.search(Query(1, "Ann", None, JUNE), 1)
    assert first == Hit(1, pytest.approx(0.75 * 0.5 * LN4))
    # A question without a date is asked at the scope's last session; one from before it loses nothing.
    assert store.search(Query(1, "Ann", None), 1) == [Hit(1, pytest.approx(0.5 * LN4))]
    assert store.search(Query(1, "Ann", None, datetime(2020, 1, 1)), 1) == [Hit(1, pytest.approx(0.5 * LN4))]
    store.close()


def test_importance_multiplies(server: dict[str, str]) -> None:
    items = [session(1, "we met Ann", importance=0.2), session(2, "x"), session(3, "x"), session(4, "we met Ann")]
    store = filled(server, items)
    hits = store.search(Query(1, "Ann", None), 2)
    assert [(hit.id, round(hit.score / hits[0].score, 3)) for hit in hits] == [(4, 1.0), (1, 0.4)]
    store.close()


def test_importance_alone_heeds_no_question(server: dict[str, str]) -> None:
    items = [session(1, "a"), session(2, "b", importance=1), session(3, "Ann", importance=0), session(4, "c")]
    store = filled(server, items, "importance")
    for question in ("we met Ann", "", EVIL):
        assert store.search(Query(1, question, None), 3) == [Hit(2, 1.0), Hit(1, 0.5), Hit(4, 0.5)]
    assert store.settings()["graph.ranker"] == "importance"
    assert "graph.neighbour_share" not in store.settings()
    store.close()


def test_ties_go_by_id_and_at_most_k_come_back(server: dict[str, str]) -> None:
    store = filled(server, [session(id, "same") for id in (7, 5, 6, 8)])
    assert [hit.id for hit in store.search(Query(1, "else", None), 3)] == [5, 6, 7]
    assert [hit.id for hit in store.search(Query(1, "else", None), 50)] == [5, 6, 7, 8]
    store.close()


def test_scopes_and_runs_do_not_see_each_other(server: dict[str, str]) -> None:
    store = filled(server, [*FOUR, session(11, "we met Ann", scope=2), session(12, "x", scope=2)])
    other = filled(server, [session(1, "we met Ann and Bob"), session(2, "we met Ann again")])
    assert {hit.id for hit in store.search(Query(1, "Ann", None), 50)} == {1, 2, 3, 4}
    assert {hit.id for hit in store.search(Query(2, "Ann", None), 50)} == {11, 12}
    assert {hit.id for hit in other.search(Query(1, "Ann", None), 50)} == {1, 2}
    assert store.search(Query(3, "Ann", None), 50) == []
    store.close()
    assert {hit.id for hit in other.search(Query(1, "Ann", None), 50)} == {1, 2}
    other.close()


def test_texts_are_data_whatever_they_say(server: dict[str, str], rows: Any) -> None:
    items = [session(1, EVIL), session(2, ""), session(3, "we met O'Neil'}) Zoë"), session(4, "x" * 100_000)]
    store = filled(server, items)
    for question in (EVIL, "", "O'Neil", "zoë"):
        assert len(store.search(Query(1, question, None), 50)) == 4
    assert store.search(Query(1, "ZOË?", None), 1)[0].id == 3
    stored = dict(rows("MATCH (s:RecallBenchSession) WHERE s.tenant = $t RETURN s.id, s.text", t=store._tenant))
    assert stored == {1: EVIL.replace("\ud800", "?"), 2: "", 3: items[2].text, 4: items[3].text}
    store.close()


def test_closing_removes_the_stores_own_nodes_alone(server: dict[str, str], rows: Any) -> None:
    rows("CREATE (n:RecallBenchSession {tenant: 'somebody', scope: 1, id: 1}), (m:Theirs {tenant: 'somebody'})")
    before = rows("MATCH (n) RETURN count(n)")
    store = filled(server, [session(id, f"we met Ann number{'x' * (id % 7)}") for id in range(1, 1203)])
    assert rows("MATCH (n) RETURN count(n)") > before
    store.close()
    store.close()
    assert rows("MATCH (n) RETURN count(n)") == before
    rows("MATCH (n {tenant: 'somebody'}) DETACH DELETE n")


def test_another_caller_searches_too_and_leaves_the_graph(server: dict[str, str]) -> None:
    store = filled(server, FOUR)
    question = Query(1, "Ann or Bob?", None)
    handle = store.another_caller()
    assert (store.one_caller, handle.round_trip()) == ("", True)
    assert handle.search(question, 4) == store.search(question, 4)
    handle.close()
    assert [hit.id for hit in store.search(question, 4)] == [1, 3, 2, 4]
    store.close()


def test_the_graph_is_as_documented(server: dict[str, str], rows: Any) -> None:
    store = filled(server, FOUR)
    mentions = "MATCH (s)-[:RECALLBENCH_MENTIONS]->(e) WHERE s.tenant = $t RETURN s.id, e.name, e.weight ORDER BY s.id"
    assert rows(mentions, t=store._tenant) == [
        (1, "ann", 1386),
        (2, "rained", 1386),
        (3, "bob", 1386),
        (4, "quiet", 1386),
    ]
    after = "MATCH (s)-[:RECALLBENCH_NEXT]->(n) WHERE s.tenant = $t RETURN s.id, n.id ORDER BY s.id"
    assert rows(after, t=store._tenant) == [(1, 2), (2, 3), (3, 4)]
    assert "ArcadeDB" in store.version()
    assert store.settings()["graph.bolt"][0].isdigit()
    assert "(4 sessions, 4 entities, 4 mentions)" in store.evidence()["index"]
    assert PASSWORD not in json.dumps([dict(store.settings()), dict(store.evidence()), store.version()])
    store.close()


def test_an_empty_scope_has_no_hits_and_a_bad_importance_is_refused(server: dict[str, str]) -> None:
    store = filled(server, [])
    assert store.search(Query(1, "Ann", None), 5) == []
    with pytest.raises(InputError, match="impossible importance"):
        store.ingest([session(1, "x", importance=float("nan"))], None)
    store.close()


def test_a_missing_variable_is_named() -> None:
    with pytest.raises(Blocked) as caught:
        GraphStore({}, "neighbours").prepare(0)
    assert caught.value.expected == "NEO4J_URI in the environment"


@pytest.mark.parametrize(
    "uri", ["neo4j", "http://127.0.0.1:1", "bolt://", "bolt://joe:s3cret@127.0.0.1:1", "bolt://127.0.0.1:port"]
)
def test_an_address_that_cannot_be_meant_is_refused(uri: str) -> None:
    with pytest.raises(UsageError, match="NEO4J_URI") as caught:
        GraphStore({"NEO4J_URI": uri}, "neighbours").prepare(0)
    assert "s3cret" not in str(caught.value)


def test_the_status_of_a_server_out_of_reach_says_why(server: dict[str, str]) -> None:
    (port,) = free_ports(1)
    gone = store_status("graph", (), {"NEO4J_URI": f"bolt://127.0.0.1:{port}", "RECALLBENCH_STORE_TIMEOUT": "2"})
    assert (gone.ready, "does not answer" in gone.detail) == (False, True)
    refused = store_status("graph", (), {**server, "NEO4J_PASSWORD": "wr0ng"})
    assert (refused.ready, "wr0ng" in str(refused)) == (False, False)
    half = store_status("graph", (), {**server, "NEO4J_PASSWORD": ""})
    assert (half.ready, "NEO4J_PASSWORD" in half.detail) == (False, True)
    assert not store_status("graph", (), {**server, "NEO4J_DATABASE": "elsewhere"}).ready


STUCK = """
import os, sys
from recallbench.stores.graph.graph import GraphStore
from recallbench.stores.store import Item
store = GraphStore(dict(os.environ), "neighbours")
store.prepare(0)
store.ingest([Item(id, 1, f"we met Ann and Bob{id}", None, 0.5) for id in range(1, 700)], None)
print(store._tenant, flush=True)
sys.stdin.read()
"""


class RecordedNotes(Silent):
    def __init__(self) -> None:
        self.lines: list[str] = []

    def note(self, text: str) -> None:
        self.lines.append(text)


def test_the_next_run_removes_a_killed_runs_graph_and_keeps_a_living_ones(
    server: dict[str, str], rows: Any, run_python: Any
) -> None:
    def left(tenant: str) -> int:
        ((count,),) = rows("MATCH (n) WHERE n.tenant = $t RETURN count(n)", t=tenant)
        return int(count)

    rows(
        "CREATE (:RecallBenchRun {tenant: $t, place: 'elsewhere', pid: 1, born: '1'}),"
        " (:RecallBenchRun {tenant: 'x', place: 'y'}), (:RecallBenchScope {tenant: $t, scope: 1})",
        t=(far := "recallbench-" + 16 * "0"),
    )
    with pytest.MonkeyPatch.context() as patch:
        for name, value in server.items():
            patch.setenv(name, value)
        killed, living = run_python(STUCK), run_python(STUCK)
    dead, alive = (process.stdout.readline().strip() for process in (killed, living))
    before = left(dead)
    assert before == left(alive) > 1400
    killed.send_signal(signal.SIGKILL)
    # Not collected yet, it still has its process id.
    while Path(f"/proc/{killed.pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z":
        time.sleep(0.01)

    progress = RecordedNotes()
    store = GraphStore(server, "neighbours", progress)
    store.prepare(0)
    assert (left(dead), left(alive), left(far)) == (0, before, 2)
    removed, cleanup = sorted(progress.lines, key=lambda line: far in line)
    assert f"what the run {dead} left, which was killed" in removed
    assert cleanup.endswith(f"MATCH (n) WHERE n.tenant = '{far}' DETACH DELETE n")
    store.close()

    # Collected, its process id is gone, or somebody else's.
    living.kill()
    living.wait()
    filled(server, FOUR).close()
    assert (left(alive), left(far)) == (0, 2)
    rows(cleanup.rpartition(": ")[2])
    assert left(far) == 0
    rows("MATCH (n:RecallBenchRun) DETACH DELETE n")


def test_another_process_of_the_same_id_is_not_the_run(server: dict[str, str], rows: Any) -> None:
    store = filled(server, FOUR)
    rows("MATCH (r:RecallBenchRun) WHERE r.tenant = $t SET r.born = '1'", t=store._tenant)
    filled(server, FOUR).close()
    assert store.search(Query(1, "Ann", None), 3) == []
    assert rows("MATCH (n) WHERE n.tenant = $t RETURN count(n)", t=store._tenant) == [(0,)]
    store.close()


@pytest.mark.parametrize("field", ["pid: -1", "pid: 'x'", "pid: 1.5", "pid: null"])
def test_what_is_no_process_id_is_left_alone(server: dict[str, str], rows: Any, field: str) -> None:
    store = filled(server, FOUR)
    rows(f"MATCH (r:RecallBenchRun) WHERE r.tenant = $t SET r.{field.replace(':', ' =')}", t=store._tenant)
    filled(server, FOUR).close()
    assert len(store.search(Query(1, "Ann", None), 3)) == 3
    store.close()


@pytest.mark.marked
def test_a_server_that_goes_away_blocks(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with bolt_server(tmp_path) as environ:
        store = filled({**environ, "RECALLBENCH_STORE_TIMEOUT": "0.5"}, FOUR)
    with pytest.raises(Blocked, match="does not answer while searching"):
        store.search(Query(1, "Ann", None), 3)
    store.close()
    assert capfd.readouterr().err == ""


@pytest.mark.marked
def test_a_run_by_the_command_line(server: dict[str, str], tmp_path: Path, rows: Any) -> None:
    before = rows("MATCH (n) RETURN count(n)")
    for ranker in ("neighbours", "importance"):
        words = ("run", "canary-locomo", "--store", "graph", "--graph-ranker", ranker, "--folder", tmp_path / ranker)
        assert recallbench(*words, cwd=tmp_path, env=server).returncode == 0
        metrics = json.loads((tmp_path / ranker / "metrics.json").read_text())
        assert metrics["guc_state"]["graph.ranker"] == ranker
        assert metrics["store"]["variant"] == ("ranker importance" if ranker == "importance" else "")
        assert ("settings" in [deviation["kind"] for deviation in metrics["deviations"]]) == (ranker == "importance")
        printed = recallbench("audit", tmp_path / ranker, cwd=tmp_path).stdout
        assert ": holds, not committed\n" in printed
    again = recallbench(
        "run", "canary-locomo", "--store", "graph", "--folder", tmp_path / "b", cwd=tmp_path, env=server
    )
    assert again.returncode == 0
    for name in ("raw_retrievals.jsonl", "metrics.json", "run.trec"):
        assert (tmp_path / "b" / name).read_bytes() == (tmp_path / "neighbours" / name).read_bytes()
    written = "".join(path.read_text() for path in tmp_path.glob("*/*") if path.is_file())
    assert PASSWORD not in written
    assert rows("MATCH (n) RETURN count(n)") == before
    pair = (tmp_path / "importance", tmp_path / "neighbours")
    compared = recallbench("compare", *pair, "--allow", "store", cwd=tmp_path)
    assert "ranker" in compared.stdout


def test_a_run_without_a_server_is_blocked(tmp_path: Path) -> None:
    done = recallbench(
        "run", "canary-locomo", "--store", "graph", "--out", tmp_path, cwd=tmp_path, env={"NEO4J_URI": ""}
    )
    assert done.returncode == 3
    assert "NEO4J_URI" in done.stderr
    (folder,) = tmp_path.glob("graph_*_BLOCKED")
    assert "NEO4J_URI" in (folder / "BLOCKED.md").read_text()
