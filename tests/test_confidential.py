"""Secrets are replaced in every spelling, and nothing else is."""

from __future__ import annotations

import base64
import html
import json
from urllib.parse import quote

import pytest

from recallbench.confidential import (
    concealed,
    concealed_lines,
    remember_environment,
    remember_logins,
    remember_secrets,
    sanitised,
    sanitised_json,
    without_secrets,
)
from recallbench.errors import Blocked

TOKEN = 'tök/en+"9\\7'


@pytest.mark.parametrize(
    "text",
    [
        TOKEN,
        f"x{TOKEN}x",
        quote(TOKEN, safe=""),
        quote(TOKEN, safe="").lower(),
        quote(TOKEN),
        json.dumps(TOKEN)[1:-1],
        json.dumps(TOKEN, ensure_ascii=False)[1:-1],
        repr(TOKEN)[1:-1],
        TOKEN.encode().hex(),
        TOKEN.encode().hex().upper(),
        TOKEN.encode().hex(":"),
        TOKEN.encode().hex(" ").upper(),
        TOKEN.upper(),
        json.dumps(json.dumps(TOKEN))[3:-3],
        json.dumps(TOKEN)[1:-1].replace("/", "\\/"),
        json.dumps(TOKEN)[1:-1].replace("/", "\\u002f").replace("+", "\\u002B"),
        "".join(f"\\u{ord(character):04x}" for character in TOKEN),
        "".join(f"\\x{byte:02x}" for byte in TOKEN.encode()),
        "".join(f"%{byte:02X}" for byte in TOKEN.encode()),
        quote(quote(TOKEN, safe=""), safe=""),
        html.escape(TOKEN),
        "".join(f"&#{ord(character)};" for character in TOKEN),
        "".join(f"&#x{ord(character):04X};" for character in TOKEN),
    ],
)
def test_every_spelling_is_replaced(text: str) -> None:
    remember_secrets(TOKEN)
    assert concealed(f"a {text} b").removeprefix("a ").removesuffix(" b").strip("x") == "***"


@pytest.mark.parametrize("before", ["", "a", "ab", "Bearer ", "joe:"])
@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
def test_base64_is_found_wherever_the_secret_begins_in_it(before: str, encode: object) -> None:
    remember_secrets(TOKEN)
    encoded = encode(f"{before}{TOKEN} and more".encode()).decode()  # type: ignore[operator]
    shown = concealed(encoded)
    assert "***" in shown
    assert TOKEN not in base64.urlsafe_b64decode(
        shown.replace("***", "AAAA").replace("+", "-").replace("/", "_")
        + "=" * (-len(shown.replace("***", "AAAA")) % 4)
    ).decode(errors="replace")


def test_a_word_is_replaced_as_a_word_and_in_no_file() -> None:
    """Else a password `postgres` would take the names out of artefacts."""
    remember_secrets("postgres")
    text = '{"postgres": "PostgreSQL 18", "dsn": "postgresql://postgres_1"}'
    assert concealed(text) == text
    assert sanitised("no postgres at postgresql:5432 for user postgres.") == "no *** at postgresql:5432 for user ***."
    assert sanitised("the embedded Postgres") == "the embedded Postgres"
    assert concealed("cG9zdGdyZXM=") == "***M="


def test_base64_in_lines_is_found() -> None:
    remember_secrets("s3cr3t/T0ken")
    for before in range(76):
        shown = concealed(base64.encodebytes(bytes(before) + b"s3cr3t/T0ken and so on").decode())
        assert "***" in shown, before


@pytest.mark.parametrize("short", ["", "a", "ab", "abc", " "])
def test_a_short_secret_is_not_replaced(short: str) -> None:
    remember_secrets(short)
    assert sanitised("abc a ab a") == "abc a ab a"
    assert sanitised(f"http://joe:{short.strip()}@h/") == "http://***@h/"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("http://joe:hush@h:1/p", "http://***@h:1/p"),
        ("http:/joe:hush@h", "http:/***@h"),
        ("http:joe:hush@h", "http:***@h"),
        ("https://hush@h/x", "https://***@h/x"),
        ("http://joe:hu/sh@h", "http://***@h"),
        ("http://joe:hu@sh@h/x", "http://***@h/x"),
        ("postgresql://joe:hush@/db?host=/run", "postgresql://***@/db?host=/run"),
        ("host=h password='hu s\\'h' user=joe", "host=h password=*** user=joe"),
        ("password = hush, else", "password = ***, else"),
        ("bolt://neo4j:hush@h and http://a:b@c", "bolt://***@h and http://***@c"),
        ("http://127.0.0.1:8900/a/b", "http://127.0.0.1:8900/a/b"),
        ("http://127.0.0.1:8900/a@b", "http://127.0.0.1:8900/a@b"),
        ("hub:team/trips@abc", "hub:team/trips@abc"),
        ("recall_any@10: f1@3", "recall_any@10: f1@3"),
        ("me@example.org wrote: k=3", "me@example.org wrote: k=3"),
    ],
)
def test_logins_in_addresses_are_replaced(text: str, shown: str) -> None:
    assert sanitised(text) == shown
    assert sanitised(shown) == shown


def test_no_text_makes_the_replacement_slow() -> None:
    remember_secrets("%s&#5-hunter\\2", "hush")
    for text in (
        "a-" * 200_000,
        "\\" * 400_000,
        "%25" * 200_000,
        "&#0" * 200_000,
        "http://" + "a:" * 100_000,
    ):
        assert sanitised(text) == text  # a search that goes back and forth would not come to its end
    assert sanitised("password=" * 50_000) == "password=***"
    assert sanitised("x:/" * 100_000 + "@").endswith("x:/***@")


def test_secrets_are_known_from_the_environment_and_from_addresses() -> None:
    remember_environment(
        {
            "RECALLBENCH_STORE_TOKEN": "t0ken-one",
            "HF_TOKEN": "hf_abcdefgh1",
            "PGPASSWORD": "pg-pass-1",
            "OPENAI_API_KEY": "sk-12345678",
            "AWS_SECRET_ACCESS_KEY": "aws/key+1",
            "DB_PASS": "db-pass-1",
            "HTTPS_PROXY": "http://joe:pr0xy-pw@proxy:3128",
            "RECALLBENCH_LOCOMO_URL": "https://joe:l0como-pw@h/x",
            "PGMNEMO_DSN": "host=h password='dsn pass 1' dbname=b",
            "HOME": "/home/joe-the-9th",
        }
    )
    remember_logins(["--store=http://joe:p%40ss-word@h"])
    for secret in (
        "t0ken-one",
        "hf_abcdefgh1",
        "pg-pass-1",
        "sk-12345678",
        "aws/key+1",
        "db-pass-1",
        "pr0xy-pw",
        "l0como-pw",
        "dsn pass 1",
        "p%40ss-word",
        "p@ss-word",
        base64.b64encode(b"joe:p@ss-word").decode(),
    ):
        assert concealed(f"<{secret}>") == "<***>"
    assert concealed("/home/joe-the-9th") == "/home/joe-the-9th"


def test_secrets_are_replaced_in_nested_keys_and_values() -> None:
    remember_secrets("hunter-2")
    assert sanitised_json({"a": [{"Bearer hunter-2": "x hunter-2", "n": 1.5, "t": True}], "b": None}) == {
        "a": [{"Bearer ***": "x ***", "n": 1.5, "t": True}],
        "b": None,
    }
    assert list(concealed_lines(["a hunter-2\n", "b\n"])) == ["a ***\n", "b\n"]


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ('{llm={api_key="sk-1\\"2", n="x"}}', '{llm={api_key="***", n="x"}}'),
        ('{"headers": {"Authorization": "Bearer 12"}}', '{"headers": {"Authorization": "***"}}'),
        ("{'X-Api-Key': 'ab', 'k': 5}", "{'X-Api-Key': '***', 'k': 5}"),
        ('{text_key="body"}', '{text_key="body"}'),
    ],
)
def test_a_secret_inside_a_value_is_left_out_by_its_name(value: str, written: str) -> None:
    assert without_secrets({"config": value, "token": "t"}) == {"config": written, "token": "***"}


def test_an_error_never_holds_a_secret_and_keeps_its_examples() -> None:
    remember_secrets("hunter-2", "hush")
    error = Blocked(
        "no http:/joe:x@h", expected="such as postgresql://user:password@host", found="hunter-2", remedy="not hush"
    )
    assert (error.problem, error.found, error.remedy) == ("no http:/***@h", "***", "not ***")
    assert error.expected == "such as postgresql://user:password@host"
    assert "hunter-2" not in repr(error)
