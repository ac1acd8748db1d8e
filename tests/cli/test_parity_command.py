from __future__ import annotations

import json
from pathlib import Path

from commandline import recallbench


def test_the_table_counts_no_difference(tmp_path: Path) -> None:
    done = recallbench("parity", "--runs", "50", "--seed", "3", cwd=tmp_path)
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert lines[0].split() == ["measure", "against", "its", "name", "compared", "differing", "largest", "difference"]
    assert sum("pytrec_eval-terrier 0" in line for line in lines) == 16
    assert sum("ir_measures 0" in line and line.startswith(("recall", "prec", "ndcg", "mrr")) for line in lines) == 17
    assert lines[-1].startswith("The measures agree with both implementations in ")
    assert lines[-1].endswith(" comparisons over 50 random runs, seed 3; to 1e-09")


def test_json_counts_no_difference(tmp_path: Path) -> None:
    done = recallbench("parity", "--runs", "50", "--json", cwd=tmp_path)
    document = json.loads(done.stdout)
    assert (done.returncode, document["runs"], document["seed"], document["differing"]) == (0, 50, 42, 0)
    assert {measure["differing"] for measure in document["measures"]} == {0}
    assert min(measure["compared"] for measure in document["measures"]) > 50


def test_a_difference_is_exit_1(tmp_path: Path) -> None:
    """Shadow an oracle by one that differs."""
    shadow = tmp_path / "shadow"
    shadow.mkdir()
    # The smallest departure that counts, made where the real oracle is loaded.
    (shadow / "sitecustomize.py").write_text(
        "import pytrec_eval\n"
        "real = pytrec_eval.RelevanceEvaluator.evaluate\n"
        "def evaluate(self, run):\n"
        "    results = real(self, run)\n"
        "    for values in results.values():\n"
        "        if 'recip_rank' in values:\n"
        "            values['recip_rank'] += 1.1e-9\n"
        "    return results\n"
        "pytrec_eval.RelevanceEvaluator.evaluate = evaluate\n"
    )
    done = recallbench("parity", "--runs", "20", cwd=tmp_path, env={"PYTHONPATH": str(shadow)})
    assert done.returncode == 1
    assert "next: report it with the seed" in done.stdout.splitlines()[-1]
    lines = [line.split() for line in done.stdout.splitlines() if line.startswith("mrr@50")]
    pytrec_eval, ir_measures = (int(line[5]) for line in lines)
    assert (pytrec_eval > 20, ir_measures) == (True, 0)


def test_no_runs_are_refused(tmp_path: Path) -> None:
    assert recallbench("parity", "--runs", "0", cwd=tmp_path).returncode == 2
