"""Every reader of files that others may have made: which files it reads, and by which commands. One line adds one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from fuzzing.reading import (
    attested,
    corpus,
    hub_file,
    kept_answers,
    manifest_renewed,
    model_settings,
    pack_renewed,
    vectors,
)

Words = tuple[str, ...]
Work = Callable[[Path], int]


@dataclass(frozen=True)
class Reader:
    """`files` are patterns below the place; one of `ways` is taken: words of a command, or a function of the file.

    In words, `{file}` stands for the file that was changed, `{folder}` for the one that it lies in.
    """

    name: str
    files: tuple[str, ...]
    ways: tuple[Words | Work, ...]
    before: Callable[[Path], None] | None = None
    """Makes good what gives a change away at once, as a hash; called with the changed file, in every second case."""


def _result(name: str, *patterns: str) -> Reader:
    files = tuple(f"results/{folder}/{pattern}" for folder in FOLDERS for pattern in patterns)
    return Reader(name, files, LOOKS, manifest_renewed)


FOLDERS = ("canary_bm25", "canary_weights", "team_bm25", "team_failing", "answers_tokens", "pgmnemo")
DATA = ("--corpus-file", "team", "--corpus-file", "answers", "--corpus-file", "locomo.json")
ADDED = ("add", "--kind", "methodology", "--title", "t", "--text", "t")
OUT = ("--folder", "out/made", "--quiet")
SITE = ("site", "{folder}", "results/canary_bm25", *OUT, "--cache-dir", "out/cache")
PARQUET = ("export", "parquet", "{folder}", "--folder", "out/parquet")
PROMETHEUS = ("export", "prometheus", "{folder}", "--textfile", "out/a.prom")
LOOKS: tuple[Words, ...] = (
    ("audit", "{folder}", *DATA, "--json"),
    ("audit", "{folder}", *DATA),
    ("table", "{folder}", "results/canary_exact"),
    ("compare", "results/canary_exact", "{folder}", "--allow", "embedder,store"),
    ("drift", "results", "--format", "json"),
    ("cite", "{folder}", "--as-deviation", *DATA),
    ("multiverse", "{folder}", "--published", "0.875", *DATA),
    ("report", "{folder}"),
    ("gate", "--format", "json"),
    ("history", *ADDED, "--before", "results/canary_exact", "--after", "{folder}", "--file", "out/HISTORY.md"),
    PROMETHEUS,
    SITE,
)
PACK = "packs/plain.safetensors"
SIGNED = ("--key", "safe/key.pub", "--corpus-file", "plain")
KEPT = ("--cache-dir", "out/cache")
RANKED = ("--gold", "files/gold.json")
OWN = ("--store", "bm25", *OUT)
DRY = ("--dry-run", "--quiet")

READERS: tuple[Reader, ...] = (
    _result("metrics", "metrics.json"),
    _result("rankings", "raw_retrievals.jsonl"),
    _result("manifest", "manifest.json"),
    _result("environment", "environment.json"),
    _result("timings", "timings.jsonl"),
    _result("documents", "documents.tsv"),
    _result("trec-of-result", "*.trec"),
    _result("report", "report.md"),
    Reader(
        "stages-of-result",
        ("piped/*.jsonl", "piped/*.json"),
        (*LOOKS, PARQUET, ("costs", "{folder}"), ("stages", "{folder}"), ("costs", "{folder}", "--json")),
        manifest_renewed,
    ),
    Reader(
        "result-behind-canary",
        ("base/*.json", "base/*.jsonl", "base/*.tsv"),
        (("canary", "big", "--n", "100", "--result", "base", "--folder", "out/few"),),
        manifest_renewed,
    ),
    Reader("reproduction", ("results/reproduction/reproduction.*",), LOOKS[:3], manifest_renewed),
    Reader("attestation", ("results/canary_bm25.attestation.json", "canary_bm25.statement"), (attested,)),
    Reader(
        "keys",
        ("safe/key", "safe/key.pub"),
        (
            ("attest", "results/canary_exact", "--key", "safe/key", "--quiet"),
            ("audit", "results/canary_bm25", "--require-attestation", "safe/key.pub"),
        ),
    ),
    Reader("versions", ("results/versions/versions_20261119/*",), (SITE,), manifest_renewed),
    Reader("repeat", ("results/repeat/repeat.*",), (SITE,), manifest_renewed),
    Reader("sweep-result", ("studies/sweep_*/*",), (SITE, PARQUET, PROMETHEUS), manifest_renewed),
    Reader(
        "latency",
        ("studies/latency_*/*",),
        (SITE, PARQUET, PROMETHEUS, ("gate", "--latency", "lexical={folder}")),
        manifest_renewed,
    ),
    Reader(
        "matrix",
        ("studies/matrix_*/matrix.*", "studies/matrix_*/*.json"),
        (SITE, ("matrix", "--show", "{folder}"), ("matrix", "--show", "{folder}", "--format", "json")),
        manifest_renewed,
    ),
    Reader("foreign", ("foreign/*/*",), (("audit", "{folder}"), ("multiverse", "{folder}"), ("costs", "{folder}"))),
    Reader(
        "pipelines",
        ("pipeline.toml", "examples/pipelines/*.toml"),
        (("run", "canary-locomo", "--pipeline", "{file}", "--embedder", "hash", *DRY),),
    ),
    Reader("sweeps", ("sweep.toml",), (("sweep", "{file}", "canary-locomo", "--embedder", "hash", *DRY),)),
    Reader("locomo", ("corpora/locomo.json",), (corpus("locomo"),)),
    Reader("longmemeval", ("corpora/longmemeval.json",), (corpus("longmemeval"),)),
    Reader("realtalk", ("corpora/realtalk/**/*",), (corpus("realtalk"), corpus("realtalk-turns"))),
    Reader("realmem", ("corpora/realmem/**/*",), (corpus("realmem"),)),
    Reader("beam", ("corpora/beam-100k/**/*",), (corpus("beam-100k"),)),
    Reader("hub-sets", ("hub/**/*",), (("evaluate", "hub", *OWN),)),
    Reader("hub-file", ("archives/corpus.jsonl.gz", "archives/bomb.gz"), (hub_file,)),
    Reader("labelled-sets", ("plain/**/*", "team/**/*"), (("evaluate", "{folder}", *OWN),)),
    Reader(
        "sets-matched-by-text",
        ("answers/**/*",),
        (("evaluate", "answers", "--match", "tokens", *OWN), ("evaluate", "answers", "--match", "bm25", *OWN)),
    ),
    Reader(
        "gold",
        ("files/gold.*", "files/texts.jsonl"),
        (
            ("evaluate", "--run", "files/run.jsonl", "--gold", "{file}"),
            ("score", "files/run.json", "--gold", "{file}", "--json"),
            ("score", "files/run.trec", "--gold", "{file}", "--by", "kind"),
            (
                "score",
                "files/run.jsonl",
                "--gold",
                "files/gold.jsonl",
                "--texts",
                "files/texts.jsonl",
                "--match",
                "tokens",
            ),
        ),
    ),
    Reader(
        "rankings-made-elsewhere",
        ("files/run.*",),
        (
            ("evaluate", "--run", "{file}", *RANKED),
            ("score", "{file}", "--gold", "files/gold.trec", "--ks", "1,3"),
            ("score", "files/run.trec", "--compare", "{file}", "--gold", "files/gold.tsv"),
            ("score", "{file}", "--gold", "files/gold.jsonl", "--texts", "files/texts.jsonl", "--match", "tokens"),
        ),
    ),
    Reader("trec", ("old.trec", "qrels.trec"), (("compare", "old.trec", "new.trec", "--qrels", "qrels.trec"),)),
    Reader(
        "canary",
        ("few/**/*",),
        (
            ("canary", "few", "--check", "--log", "log.jsonl"),
            ("canary", "few", "--refresh", "--result", "base", "--log", "log.jsonl", "--folder", "out/next"),
            ("evaluate", "few", *OWN),
        ),
    ),
    Reader(
        "logs",
        ("log.jsonl", "labels.jsonl"),
        (
            ("sample", "log.jsonl", "--n", "5", "--by", "kind", "--save", "out/sample.jsonl"),
            ("sample", "log.jsonl", "--labels", "labels.jsonl"),
            ("sample", "log.jsonl", "--n", "5", "--skip-bad", "--save", "out/sample.jsonl"),
            ("canary", "big", "--log", "log.jsonl", "--folder", "out/few"),
        ),
    ),
    Reader("imports", ("tables/answers.*",), (("label", "open", "--import", "{file}"),)),
    Reader(
        "settings",
        ("settings.toml",),
        (("run", "canary-locomo", "--config", "{file}", *DRY), ("evaluate", "plain", "--config", "{file}", *OWN)),
    ),
    Reader("thresholds", ("recallbench.toml", "baseline.json"), (("gate", "--format", "json"), ("gate",))),
    Reader("prices", ("prices.toml",), (("costs", "piped", "--prices", "{file}"),)),
    Reader(
        "history",
        ("HISTORY.md",),
        (
            ("cite", "results/canary_bm25", "--as-deviation", "--history", "{file}"),
            ("cite", "--check", "{file}"),
            ("history", *ADDED, "--file", "{file}"),
        ),
    ),
    Reader("vectors", ("vectors/*",), (vectors,)),
    Reader(
        "packs",
        ("packs/*",),
        (
            ("vectors", "verify", PACK, *SIGNED),
            ("vectors", "use", PACK, *SIGNED, *KEPT),
            ("vectors", "use", PACK, *KEPT),
        ),
        pack_renewed,
    ),
    Reader("answers-of-sweeps", ("cache-of-sweep/**/*.gz", "archives/answers.gz", "archives/bomb.gz"), (kept_answers,)),
    Reader("model-folders", ("model/**/*",), (model_settings,)),
)
