"""Each check has a code of its own, which `recallbench audit --explain` and benchmarks/AUDIT.md explain alike."""

import json
import re
from pathlib import Path

from commandline import recallbench
from recallbench.audit.checks import (
    CHECKS,
    LAST,
    OF_A_PACK,
    OF_A_PIPELINE,
    OF_THE_STATIC_CONTROL,
    ON_DEMAND,
    static_control,
)
from recallbench.audit.explanation import explanations
from recallbench.audit.gates import GATES
from recallbench.citing import attestation, publication
from recallbench.foreign.case import CODES

DOCUMENT = Path(__file__).parents[2] / "benchmarks" / "AUDIT.md"


def test_codes_are_unique_and_explained() -> None:
    codes = [check.code for check in (*CHECKS, *OF_A_PACK, *OF_A_PIPELINE, *ON_DEMAND, *GATES, *LAST)]
    codes += [check.code for check in (*OF_THE_STATIC_CONTROL, static_control.AGAIN)]
    codes += [attestation.CODE, publication.CODE, *CODES]
    assert len(set(codes)) == len(codes)
    explained = re.findall(r"^\| (RB-[A-Z0-9-]+) \| (?:\S.*\S) \|$", DOCUMENT.read_text("utf-8"), re.MULTILINE)
    assert sorted(explained) == sorted(codes)
    assert sorted(explanations()) == sorted(codes)


def test_the_document_says_what_the_program_says() -> None:
    rows = re.findall(r"^\| (RB-[A-Z0-9-]+) \| (.*) \|$", DOCUMENT.read_text("utf-8"), re.MULTILINE)
    without_links = {code: re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", cells) for code, cells in rows}
    program = {code: " | ".join(filter(None, (one.passes, one.fails))) for code, one in explanations().items()}
    assert program == without_links


def test_a_check_is_explained_without_a_folder(tmp_path: Path) -> None:
    done = recallbench("audit", "--explain", "rb-manifest", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (
        "RB-MANIFEST\n"
        "  passes when:   every file has the hash that `manifest.json` states, and so has the whole\n"
        "  when it fails: a file was changed and the manifest was not\n\n"
        f"RB-MANIFEST is one of {len(explanations())} checks; "
        "next: recallbench audit DIR --verbose, to see what each found\n"
    )
    every = json.loads(recallbench("audit", "--explain", "all", "--json", cwd=tmp_path).stdout)
    assert [check["code"] for check in every["checks"]] == list(explanations())
    done = recallbench("audit", "--explain", "RB-MANIFST", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "recallbench: no check has the code RB-MANIFST\n  expected: a code such as RB-FILES, or all\n"
        "  found: RB-MANIFST\n  what to do: did you mean RB-MANIFEST?\n"
    )
    for words, problem in (((), "no folder is named"), (("DIR", "--explain", "all"), "one thing at a time")):
        done = recallbench("audit", *words, cwd=tmp_path)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith(f"recallbench: {problem}\n")
