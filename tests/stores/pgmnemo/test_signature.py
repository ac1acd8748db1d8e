from __future__ import annotations

import psycopg
import pytest

from recallbench.errors import Blocked
from recallbench.stores.pgmnemo.signature import FUNCTIONS, Signature, read_signature, settings_of_functions
from stores.standin import database


def signature(server: str, version: str, name: str = "recall_lessons", schema: str = "public") -> Signature:
    with database(server, version, schema) as dsn, psycopg.connect(dsn, autocommit=True) as connection:
        return read_signature(connection, name)


@pytest.mark.parametrize(
    ("version", "name", "takes", "arguments"),
    [
        (
            "1.0",
            "recall_lessons",
            ("query_embedding", "k", "role_filter", "project_id_filter", "query_text"),
            "query_embedding => %(query_embedding)s::vector, k => %(k)s::integer, role_filter => %(role_filter)s::text,"
            " project_id_filter => %(project_id_filter)s::integer, query_text => %(query_text)s::text",
        ),
        (
            "2.0",
            "recall_lessons",
            ("query_embedding", "k", "role_filter", "project_id_filter", "query_text"),
            "query_embedding => %(query_embedding)s::vector, k => %(k)s::integer, role_filter => %(role_filter)s::text,"
            " project_id_filter => %(project_id_filter)s::integer, query_text => %(query_text)s::text",
        ),
        (
            "2.0",
            "recall_hybrid",
            ("query_embedding", "k", "role_filter", "project_id_filter", "query_text"),
            "query_embedding => %(query_embedding)s::vector, k => %(k)s::integer, role_filter => %(role_filter)s::text,"
            " project_id_filter => %(project_id_filter)s::integer, query_text => %(query_text)s::text",
        ),
        (
            "2.0",
            "recall_fast",
            ("query_embedding", "k", "role_filter", "project_id_filter"),
            "query_embedding => %(query_embedding)s::vector, k => %(k)s::integer, role_filter => %(role_filter)s::text,"
            " project_id_filter => %(project_id_filter)s::integer",
        ),
    ],
)
def test_a_call_names_what_the_function_takes(
    standin: str, version: str, name: str, takes: tuple[str, ...], arguments: str
) -> None:
    recall = signature(standin, version, name)
    assert recall.takes == takes
    assert recall.call == f"SELECT lesson_id, score FROM pgmnemo.{name}({arguments})"


def test_the_signature_is_stated_in_the_servers_own_words(standin: str) -> None:
    assert signature(standin, "2.0", "recall_fast").stated == (
        "pgmnemo.recall_fast(query_embedding vector, k integer DEFAULT 10, role_filter text DEFAULT NULL::text,"
        " project_id_filter integer DEFAULT NULL::integer)"
    )


def test_two_bodies_of_one_signature_have_different_hashes(standin: str) -> None:
    plain, noisy = signature(standin, "1.0"), signature(standin, "1.0-noisy")
    assert plain.stated == noisy.stated
    assert plain.body_md5 != noisy.body_md5
    assert plain.body_md5 == signature(standin, "1.0-overloaded").body_md5


def test_of_two_overloads_the_callable_one_is_used(standin: str) -> None:
    assert signature(standin, "1.0-overloaded") == signature(standin, "1.0")


def test_a_type_from_another_schema_is_named_with_it(standin: str) -> None:
    assert "query_embedding => %(query_embedding)s::shelf.vector" in signature(standin, "1.0", schema="shelf").call


@pytest.mark.parametrize(
    ("version", "complaint"),
    [
        ("1.0-uuid", "project_id_filter is uuid, not integer or bigint"),
        ("1.0-demanding", "it demands tenant, which no run can give"),
        ("1.0-scoreless", "it returns no score"),
        ("1.0-projectless", "it has no parameter project_id_filter"),
    ],
)
def test_a_function_that_can_t_be_called_is_refused_with_the_reason(standin: str, version: str, complaint: str) -> None:
    with pytest.raises(Blocked, match="can't be called as this version declares it") as caught:
        signature(standin, version)
    assert caught.value.found.endswith(complaint)
    assert "query_embedding (vector)" in caught.value.expected


def test_a_function_that_is_missing_names_those_that_are_there(standin: str) -> None:
    with pytest.raises(Blocked, match=r"no function pgmnemo\.recall_hybrid") as caught:
        signature(standin, "1.0", "recall_hybrid")
    assert caught.value.found == "recall_lessons"
    assert caught.value.remedy == "choose --pgmnemo-function recall_lessons"
    with pytest.raises(Blocked) as caught:
        signature(standin, "1.0-empty")
    assert caught.value.found == "none of them"
    assert all(name in caught.value.expected for name in FUNCTIONS)


@pytest.mark.parametrize(
    ("version", "names"),
    [
        ("1.0", ("pgmnemo.gate_strict", "pgmnemo.recency_weight")),
        (
            "2.0",
            (
                "pgmnemo.ef_search",
                "pgmnemo.gate_strict",
                "pgmnemo.recency_weight",
                "pgmnemo.track_recall_recency",
            ),
        ),
    ],
)
def test_settings_are_read_from_the_functions_bodies(standin: str, version: str, names: tuple[str, ...]) -> None:
    with database(standin, version) as dsn, psycopg.connect(dsn) as connection:
        assert settings_of_functions(connection) == names
