from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from commandline import recallbench
from labelled_sets import beir
from loopback_hub import LoopbackHub

ROOT = Path(__file__).resolve().parents[2]
COMMITTED = "benchmarks/locomo/results/pgvector_20261118"
RECORD = """# History

## 2026-11-18: What departs

- Deviation: corpus canary-locomo on canary-locomo
- Deviation: store bm25 on canary-locomo
"""


def git(place: Path, *words: str) -> None:
    who = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *who, *words], cwd=place, check=True, capture_output=True)


@pytest.fixture(scope="module")
def verified(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with a committed canary result `results/r`, whose deviations are on record: VERIFIED."""
    place = tmp_path_factory.mktemp("verified")
    (place / "HISTORY.md").write_text(RECORD)
    done = recallbench("run", "canary-locomo", "--store", "bm25", "--folder", "results/r", "-q", cwd=place)
    assert done.returncode == 0
    git(place, "init", "-q")
    git(place, "add", "HISTORY.md", "results")
    git(place, "commit", "-q", "-m", "result")
    return place


@pytest.fixture
def repository(verified: Path, tmp_path: Path) -> Path:
    shutil.copytree(verified, tmp_path / "c")
    return tmp_path / "c"


def cited(place: Path, *words: str | Path) -> tuple[int, str, str]:
    done = recallbench("cite", *words, cwd=place)
    return done.returncode, done.stdout, done.stderr


def test_what_is_not_canonical_is_refused_with_every_reason(repository: Path) -> None:
    code, out, errors = cited(repository, "results/r")
    assert (code, out) == (1, "")
    assert "deviation corpus: canary-locomo is no registered corpus" in errors
    assert "deviation store: bm25 instead of pgmnemo" in errors
    assert errors.startswith(
        "recallbench: results/r can't be cited: it is VERIFIED, not CANONICAL\n"
        "  expected: a result whose audit holds, and that deviates in nothing or has its deviations on record\n"
    )
    assert "\n  what to do: recallbench cite results/r --as-deviation\n" in errors
    code, out, _ = cited(repository, "results/r", "--json")
    document = json.loads(out)
    assert (code, document["citable"], len(document["reasons"])) == (1, False, 2)
    ending = "results/r can't be cited; for 2 deviations, above; next: recallbench cite results/r --as-deviation"
    assert document["conclusion"]["text"] == ending
    assert errors.splitlines()[-1] == ending


def test_a_deviation_is_told_first(repository: Path) -> None:
    code, out, _ = cited(repository, "results/r", "--as-deviation")
    assert code == 0
    assert out.startswith("Deviations from the frozen rules (1.0.0): corpus: canary-locomo is no registered corpus; ")
    assert "Recall Benchmark Protocol" not in out
    assert "recall@10" not in out
    figures = json.loads((repository / "results/r/metrics.json").read_text())["headline"]
    for figure in figures:
        e = figure["estimate"]
        interval = f"95% interval {e['low']:.4f} to {e['high']:.4f}, n = {e['n']}; "
        assert f"- {e['measure']} {e['value']:.4f}, {interval}" in out
    assert len(re.findall(r"; results/r, manifest sha256 [0-9a-f]{64}\n", out)) == 2
    code, out, errors = cited(repository, "results/r", "--as-deviation")
    ending = (
        "results/r can be cited, but not under the protocol's name; its audit holds, and HISTORY.md has its 2 "
        "deviations on record; next: paste the text, then recallbench cite --check FILE"
    )
    # It is no part of what is pasted.
    assert (ending in out, errors.splitlines()[-1]) == (False, ending)
    document = json.loads(cited(repository, "results/r", "--as-deviation", "--json")[1])
    assert document.pop("conclusion")["text"] == ending
    assert (document["citable"], document["canonical"], document["protocol"]) == (True, False, None)
    assert document["result"]["folder"] == "results/r"


def test_a_deviation_has_to_be_on_record(repository: Path) -> None:
    (repository / "other.md").write_text(RECORD.replace("- Deviation: store bm25 on canary-locomo\n", ""))
    code, _, errors = cited(repository, "results/r", "--as-deviation", "--history", "other.md")
    assert code == 1
    assert "RB-HISTORY" in errors
    assert "does not name `store bm25 on canary-locomo`" in errors
    assert "\n  what to do: 1. recallbench history add --kind deviation --title " in errors
    assert "\n    2. recallbench cite results/r --as-deviation --history other.md\n" in errors
    next_ = errors.splitlines()[-1].partition("next: ")[2].removesuffix(", and so on as above")
    assert next_ == (
        "recallbench history add --kind deviation --title 'What results/r departs in' "
        "--deviation 'store bm25 on canary-locomo' --file other.md"
    )
    assert recallbench(*shlex.split(next_)[1:], cwd=repository).returncode == 0
    publish = ("audit", "results/r", "--publish")
    assert recallbench(*publish, cwd=repository).returncode == 0
    (repository / "HISTORY.md").write_text("# History\n")
    assert recallbench(*publish, cwd=repository).returncode == 1
    (repository / "HISTORY.md").write_text((repository / "other.md").read_text())
    assert recallbench(*publish, cwd=repository).returncode == 0
    assert cited(repository, "results/r", "--as-deviation", "--history", "other.md")[0] == 0


def test_where_nothing_is_on_record_the_words_are_given(repository: Path) -> None:
    (repository / "HISTORY.md").unlink()
    code, _, errors = cited(repository, "results/r", "--as-deviation")
    assert code == 1
    assert "no HISTORY.md lies in r or above it to name `corpus canary-locomo on canary-locomo`, `store bm25" in errors


def test_what_is_not_verified_is_not_cited_at_all(repository: Path) -> None:
    report = repository / "results/r/report.md"
    report.write_text(report.read_text().replace("0.8354", "0.9354"))
    code, out, errors = cited(repository, "results/r", "--as-deviation")
    assert (code, out) == (1, "")
    assert "report.md has sha256" in errors
    shutil.rmtree(repository / ".git")
    assert "UNVERIFIED" in cited(repository, "results/r", "--as-deviation")[2]


@pytest.mark.marked
def test_a_citation_holds_where_it_is_pasted(repository: Path) -> None:
    for more in ((), ("--markdown",)):
        note = repository / "NOTES.md"
        note.write_text("# Release\n\n" + cited(repository, "results/r", "--as-deviation", *more)[1])
        code, out, _ = cited(repository, "--check", "NOTES.md")
        assert (code, out) == (
            0,
            "\nNOTES.md: 2 figures: 2 right; each as its folder has it, which was audited just now\n",
        )


def test_an_altered_citation_is_named_with_its_line(repository: Path) -> None:
    text = "# Release\n\n" + cited(repository, "results/r", "--as-deviation")[1]
    (repository / "docs").mkdir()
    note = repository / "docs/NOTES.md"  # the path is one from the root of the repository
    note.write_text(text.replace("recall_any@10 0.8354", "recall_any@10 0.8454"))
    code, out, _ = cited(repository, "--check", "docs/NOTES.md")
    assert code == 1
    assert out == (
        "docs/NOTES.md:6: wrong: recall_any@10 0.8454: r has 0.8354\n\n"
        "docs/NOTES.md: 2 figures: 1 right, 1 wrong; 1 may not stand as it does; next: mend docs/NOTES.md:6 "
        "first: r has 0.8354\n"
    )
    document = json.loads(cited(repository, "--check", "docs/NOTES.md", "--json")[1])
    assert [figure["status"] for figure in document["figures"]] == ["wrong", "right"]
    assert document["holds"] is False


def test_what_a_text_lacks_is_told_once_with_what_adds_it(repository: Path) -> None:
    (repository / "NOTES.md").write_text("- recall_any@10 0.8454; results/r\n- mrr@50 0.4575; results/r\n")
    code, out, _ = cited(repository, "--check", "NOTES.md")
    assert (code, out) == (
        1,
        "NOTES.md:1: wrong: recall_any@10 0.8454: r has 0.8354\n"
        "NOTES.md:2: right but undisclosed: mrr@50 0.4575\n"
        "NOTES.md: results/r, in lines 1, 2:\n"
        "  r is not CANONICAL, and the text does not tell its deviations: corpus: canary-locomo is no registered "
        "corpus; store: bm25 instead of pgmnemo\n"
        "  the text does not name the corpus: canary-locomo\n"
        "  what to add: recallbench cite results/r --as-deviation prints the words\n\n"
        "NOTES.md: 2 figures: 1 right but undisclosed, 1 wrong; 2 may not stand as they do; next: mend NOTES.md:1 "
        "first: r has 0.8354\n",
    )


def test_a_folder_that_was_changed_supports_nothing(repository: Path) -> None:
    note = repository / "NOTES.md"
    note.write_text(cited(repository, "results/r", "--as-deviation")[1])
    metrics = repository / "results/r/metrics.json"
    metrics.write_text(metrics.read_text().replace("0.835443038", "0.8354430381"))
    code, out, _ = cited(repository, "--check", "NOTES.md")
    assert (code, "r is UNVERIFIED, and only what is VERIFIED is cited" in out) == (1, True)
    assert out.startswith("NOTES.md:4: wrong: ")


def test_a_figure_without_a_folder_is_unsupported(repository: Path) -> None:
    (repository / "n.md").write_text(
        "We reach recall@10 0.93.\n\n```sh\nrecallbench run locomo  # recall@10 0.93\n```\n"
    )
    code, out, _ = cited(repository, "--check", "n.md")
    assert code == 1
    assert out == (
        "n.md:1: no folder named: recall@10 0.93: no result folder is named for it\n\n"
        "n.md: 1 figure: 1 no folder named; 1 may not stand as it does; next: name the result folder at n.md:1, or say "
        "where its figures are from: <!-- recallbench: figures from commands|others|samples|FILE.csv -->\n"
    )
    (repository / "n.md").write_text("recall@10 was 0.7500, and is 0.9354 now (results/r).\n")
    code, out, _ = cited(repository, "--check", "n.md")
    assert (code, out) == (
        0,
        "n.md:1: not checkable: recall@10 0.7500, recall@10 0.9354: several figures are given for recall@10\n\n"
        "n.md: 2 figures: 2 not checkable; nothing contradicts the text; what is not right was not compared with "
        "anything; next: commit the result folders and name them, and check with --strict\n",
    )
    assert cited(repository, "--check", "n.md", "--strict")[0] == 1
    (repository / "n.md").write_text("Nothing here.\n")
    code, out, _ = cited(repository, "--check", "n.md")
    assert (code, out) == (0, "\nn.md: no figure of a measure; so nothing was checked\n")


@pytest.mark.marked
def test_bad_input(repository: Path) -> None:
    def refused(*words: str) -> str:
        code, out, errors = cited(repository, *words)
        assert (code, out) == (2, "")
        return errors

    assert "one thing at a time" in refused()
    assert "one thing at a time" in refused("results/r", "results/r")
    assert "one thing at a time" in refused("--check", "--template")
    assert "has no Markdown file" in refused("results/r", "--check", "HISTORY.md")
    assert "no text is named" in refused("--check")
    assert "--strict goes with --check" in refused("results/r", "--strict")
    assert "--as-deviation is not for --template" in refused("results/r", "--template", "--as-deviation")
    for more in (("--previous", "results/r"), ("--as-deviation",), ("--history", "HISTORY.md")):
        assert f"{more[0]} is for a result folder" in refused("--check", "HISTORY.md", *more)
    assert "--history goes with --as-deviation" in refused("results/r", "--history", "HISTORY.md")
    assert "two forms of one output" in refused("results/r", "--as-deviation", "--json", "--markdown")
    assert "nowhere" in refused("nowhere")
    assert "results" in refused("results")
    assert "no.md" in refused("--check", "no.md")
    assert refused("HISTORY.md") == (
        "recallbench: HISTORY.md is not a result folder\n  expected: a folder that `recallbench run` wrote\n"
        "  found: a file\n  what to do: for a text: recallbench cite --check HISTORY.md\n"
    )
    (repository / "bytes.md").write_bytes(b"recall@10 0.93 \xff\n")
    assert "UTF-8" in refused("--check", "bytes.md")
    assert "is part of a result" in refused("--check", "results/r/report.md")


def test_a_blocked_folder_is_never_cited(repository: Path) -> None:
    assert recallbench("run", "locomo", "--no-download", "--folder", "results/b", cwd=repository).returncode == 3
    (blocked,) = repository.glob("results/b_BLOCKED")
    assert cited(repository, blocked)[0] == 2
    (repository / "n.md").write_text("recall@10 0.93 (results/b_BLOCKED)\n")
    assert cited(repository, "--check", "n.md")[0] == 1


def test_pages_of_the_benchmarks_say_where_their_figures_are_from() -> None:
    pages = ("PUBLISHED.md", "RANKERS.md", "locomo/STORES.md", "locomo/VERSIONS.md")
    code, out, _ = cited(ROOT / "benchmarks", "--check", *pages, "--json")
    assert code == 0
    figures = json.loads(out)["figures"]
    assert {figure["file"] for figure in figures} == set(pages)
    assert {figure["status"] for figure in figures} == {"not checkable"}


@pytest.mark.real_data
def test_figures_of_the_readme_are_those_of_their_folders(
    locomo_file: Path, realtalk_folder: Path, realmem_folder: Path
) -> None:
    folders = {"LOCOMO": locomo_file, "REALTALK": realtalk_folder, "REALMEM": realmem_folder}
    env = {f"{corpus}_DATA_DIR": str(folder) for corpus, folder in folders.items()}
    done = recallbench("cite", "--check", "README.md", "--json", cwd=ROOT, env=env)
    figures: list[dict[str, Any]] = json.loads(done.stdout)["figures"]
    compared = [figure for figure in figures if figure["compared_with"]]
    assert len(compared) == 9
    assert all(figure["status"] == "right" for figure in compared), compared
    assert {figure["status"] for figure in figures} <= {"right", "not checkable", "no folder named"}


@pytest.mark.real_data
def test_the_committed_result_is_cited_as_a_deviation(locomo_file: Path) -> None:
    done = recallbench("cite", COMMITTED, "--as-deviation", "--corpus-file", locomo_file, cwd=ROOT)
    assert done.returncode == 0
    assert "- recall_any@10 0.9743, 95% interval 0.9677 to 0.9808, n = 1982; " in done.stdout


def test_texts_and_folders_are_checked_together_in_every_format(repository: Path) -> None:
    citation = cited(repository, "results/r", "--as-deviation")[1]
    (repository / "docs").mkdir()
    (repository / "README.md").write_text("# Release\n\n" + citation)
    (repository / "docs/a.md").write_text("# Release\n\n" + citation.replace("n = 158", "n = 1982"))
    (repository / "docs/b.md").write_text(
        "A recall@10 of at least .95 is good.\n\n`recallbench gate --fail-if 'recall@10 0.9'`\n"
    )
    code, out, _ = cited(repository, "--check", "README.md", "docs")
    assert (code, out) == (
        1,
        "docs/a.md:6: wrong: recall_any@10 0.8354: n = 1982: the folder has 158\n"
        "docs/a.md:7: wrong: mrr@50 0.4575: n = 1982: the folder has 158\n\n"
        "3 files: 4 figures: 2 right, 2 wrong; 2 may not stand as they do; next: mend docs/a.md:6 first: n = 1982: the "
        "folder has 158\n",
    )
    document = json.loads(cited(repository, "--check", "README.md", "docs", "--json")[1])
    assert document["files"] == ["README.md", "docs/a.md", "docs/b.md"]
    assert (document["counts"]["right"], document["counts"]["wrong"], document["holds"]) == (2, 2, False)
    code, out, errors = cited(repository, "--check", "README.md", "--format", "csv")
    assert code == 0
    assert out.splitlines()[1] == "README.md,6,right,recall_any@10 0.8354,,results/r"
    assert errors.endswith("README.md: 2 figures: 2 right; each as its folder has it, which was audited just now\n")
    assert "| README.md | 6 | right | " in cited(repository, "--check", "README.md", "--format", "markdown")[1]
    assert "<td>right</td>" in cited(repository, "--check", "README.md", "--format", "html")[1]


def test_the_deviation_and_the_record_are_told_in_every_format(repository: Path) -> None:
    def printed(*words: str) -> str:
        code, out, _ = cited(repository, "results/r", "--as-deviation", *words)
        assert code == 0
        return out

    assert printed("--markdown") == printed("--format", "markdown")
    assert "- `recall_any@10` 0.8354" in printed("--markdown")
    rows = printed("--format", "csv").splitlines()
    assert rows[0] == "folder,measure,value,low,high,n,version,manifest sha256"
    assert rows[1].startswith("results/r,recall_any@10,0.835443038,")
    assert "<strong>results/r can be cited, but not under the protocol" in printed("--format", "html")
    code, out, errors = cited(repository, "results/r", "--as-deviation", "--json", "--markdown")
    assert (code, out, "two forms of one output" in errors) == (2, "", True)
    for format in ("text", "markdown", "csv", "html"):
        code, out, errors = cited(repository, "results/r", "--format", format)
        assert (code, out) == (1, "")
        assert errors.splitlines()[-1].startswith("results/r can't be cited; for 2 deviations, above; ")


def test_the_form_of_a_citation_is_printed_and_filled(repository: Path) -> None:
    code, out, errors = cited(repository, "--template")
    assert (code, out.partition(":")[0]) == (0, "pgmnemo Recall Benchmark Protocol v1.0.0 (benchmarks/PROTOCOL.md)")
    assert errors.endswith("for each thing it needs; next: recallbench cite DIR\n")
    code, out, errors = cited(repository, "results/r", "--template", "--markdown")
    assert "- `recall_any@10` [previous value] -> 0.8354 (" in out
    assert "not under the protocol's name, since it deviates" in errors
    document = json.loads(cited(repository, "--template", "--json")[1])
    assert document["names"][0] == "the protocol and its version"
    assert document["never"] == ["a recall number without the protocol version", "a number from a BLOCKED directory"]
    assert cited(repository, "--template", "--format", "csv")[1].startswith('citation,"PROTOCOL.md, section 8"\nnames,')
    report = repository / "results/r/report.md"
    report.write_text(report.read_text().replace("0.8354", "0.9354"))
    code, out, errors = cited(repository, "results/r", "--template")
    assert (code, "[value, once the folder is VERIFIED]" in out, "0.8354" in out) == (0, True, False)
    assert "no figure; it is UNVERIFIED" in errors


def test_where_an_audit_lacks_its_data_its_own_remedy_is_next(tmp_path: Path) -> None:
    beir(tmp_path / "set")
    ran = recallbench("evaluate", "set", "--store", "bm25", "--folder", "of ours/r", "-q", cwd=tmp_path)
    assert ran.returncode == 0
    (tmp_path / "set").rename(tmp_path / "elsewhere")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "of ours")
    git(tmp_path, "commit", "-q", "-m", "result")
    (tmp_path / "NOTES.md").write_text("On set, a deviation: [recall@10 1.0000](of%20ours/r/report.md)\n")
    code, out, _ = cited(tmp_path, "--check", "NOTES.md")
    assert code == 1
    next_ = out.splitlines()[-1].partition("; next: ")[2]
    assert next_ == "recallbench audit 'of ours/r' --corpus-file FOLDER"
    words = shlex.split(next_.replace("FOLDER", "elsewhere"))
    assert recallbench(*words[1:], cwd=tmp_path).returncode == 0


@pytest.mark.real_data
def test_what_is_next_can_be_typed(tmp_path: Path, locomo_file: Path) -> None:
    shutil.copytree(ROOT / COMMITTED, tmp_path / "of ours/pgvector_20261118")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "result")
    (tmp_path / "NOTES.md").write_text(
        "On LoCoMo with MiniLM (all-MiniLM-L6-v2, which stands in for bge-m3), not canonical: "
        "[recall@10 0.9743](of%20ours/pgvector_20261118/report.md)\n"
    )
    with LoopbackHub({"/locomo10.json": locomo_file.read_bytes()}) as hub:
        env = {
            "RECALLBENCH_LOCOMO_URL": f"{hub.url}/locomo10.json",
            "RECALLBENCH_DATA_DIR": str(tmp_path / "data"),
            "HF_HUB_OFFLINE": "0",
        }
        checked = recallbench("cite", "--check", "NOTES.md", cwd=tmp_path, env=env)
        assert checked.returncode == 1
        next_ = checked.stdout.splitlines()[-1].partition("; next: ")[2]
        assert next_ == "recallbench fetch locomo"
        assert recallbench(*shlex.split(next_)[1:], cwd=tmp_path, env=env).returncode == 0
        assert recallbench("cite", "--check", "NOTES.md", cwd=tmp_path, env=env).returncode == 0
