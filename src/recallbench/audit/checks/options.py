"""The recorded options against the result and the command line."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, get_args

from recallbench.audit.declared import keeps_going, recorded_options
from recallbench.audit.examination import Examination, pass_unless
from recallbench.audit.gate import Finding
from recallbench.audit.subject import AuditSubject
from recallbench.corpora.labelled_sets.set_name import OWN_PREFIX, folder_word
from recallbench.corpora.own import is_own_name
from recallbench.corpora.registry import GROUPS
from recallbench.embedding.encoders import ENCODERS
from recallbench.embedding.engines.probe import PROBED
from recallbench.embedding.options import Backend
from recallbench.results.metrics import Metrics
from recallbench.retrieval.pipeline.pipeline import SEARCH_ALONE
from recallbench.stores.registry import REFERENCE_STORE, find_store, options_of_record, store_options, variant_of

_ALWAYS = frozenset(
    {"corpus", "version", "store", "dsn", "embedder", "backend", "weights", "call", "download", "label", "limit"}
    | {"depth", "pooled", "allow_deviations", "with_text"}
)
"""Options that every release recorded."""
STORE_OPTION = ("set", "store-option")
"""The names of the option that gives options of the store."""
MAX_TOKENS = "max_tokens"
"""An option that is only recorded where it was given, under the name that a fingerprint has for what it sets."""
_ELSEWHERE = frozenset({"version", "dsn", "label"})
"""Options that a command of several runs gives otherwise (`versions`, `repeat`). A gate holds the version to the
store's, a check the server to what the store says of itself; a label is part of a folder's name."""


def options(subject: AuditSubject) -> Finding:
    options, metrics = recorded_options(subject), subject.metrics
    if not options:
        return Finding("fail", "environment.json holds no options")
    if lacking := sorted(_ALWAYS - options.keys()):
        return Finding("fail", f"environment.json says nothing of the options {', '.join(lacking)}")
    problems = [
        *_stated(subject, options),
        *_unused_options(options, metrics),
        *_command(subject.environment.get("command"), options, metrics),
    ]
    return pass_unless(problems, "what was asked for is what metrics.json states")


def _stated(subject: AuditSubject, options: Mapping[str, Any]) -> Iterator[str]:
    """Yield the options that ask for something else than metrics.json states."""
    metrics, corpus = subject.metrics, subject.corpus
    pairs: dict[str, tuple[Any, Any]] = {
        "corpus": (options["corpus"], metrics.corpus.name),
        "version": (options["version"], metrics.store.asked_version),
        "depth": (options["depth"], metrics.retrieval.depth),
        "pooled": (options["pooled"], metrics.retrieval.scope == "pooled"),
        "reproduce": (options.get("reproduce"), metrics.reproduction),
        "variant": (variant_of(metrics.store.name, options_of_record(options)), metrics.store.variant),
    }
    piped = str(options.get("pipeline") or SEARCH_ALONE)
    if piped.endswith(SEARCH_ALONE) != (metrics.pipeline is None):
        yield f"pipeline: {piped} asked for, {'none' if metrics.pipeline is None else metrics.pipeline.words} stated"
    embedder = metrics.embedder.name if metrics.embedder else None
    by_default = corpus.embedder if corpus.name in subject.rules.corpora and embedder else embedder
    pairs["embedder"] = (options["embedder"] or by_default, embedder)
    if options["store"] is not None:
        pairs["store"] = (options["store"], metrics.store.name)
    elif metrics.store.name not in (REFERENCE_STORE, subject.rules.canonical_store):
        yield f"store: none asked for, {metrics.store.name} stated"
    limit = options["limit"]
    # A limit that reaches all questions is none.
    if limit is None or (isinstance(limit, int) and limit < metrics.corpus.questions - metrics.retrieval.left_out):
        pairs["limit"] = (limit, metrics.retrieval.limit)
    pairs["controls"] = (str(options.get("controls", "")).endswith("static"), metrics.control_static is not None)
    if MAX_TOKENS in options:
        cut = metrics.embedder.fingerprint.get(MAX_TOKENS) if metrics.embedder else None
        pairs[MAX_TOKENS] = (str(options[MAX_TOKENS]), cut)
    pairs["dtype"] = (options.get("dtype", "fp32"), metrics.embedder.dtype if metrics.embedder else "fp32")
    backend = metrics.embedder.fingerprint.get("backend", "").partition("/")[0] if metrics.embedder else ""
    spec = ENCODERS.get(embedder or "")
    beside = "onnxruntime" if spec is not None and spec.kind == "onnx" else "torch"
    if options["backend"] == beside and backend == "openvino":
        pairs["backend"] = (options["backend"], backend)
    account = subject.environment.get("embedding")
    notes = account.get("notes", ()) if isinstance(account, Mapping) else None
    explained = notes is None or any(not str(note).startswith(PROBED) for note in _listed(notes))
    chosen = spec is None or not spec.one_engine
    if options["backend"] == "openvino" and backend == beside and chosen and not explained:
        yield f"backend: openvino asked for, {beside} stated, and no note says why"
    yield from (
        f"{name}: {requested} asked for, {stated} stated"
        for name, (requested, stated) in pairs.items()
        if requested != stated
    )
    if metrics.retrieval.failed and not keeps_going(subject):
        yield f"keep_going: not asked for, and {len(metrics.retrieval.failed)} questions are stated to have failed"
    allowed = options["allow_deviations"]
    if any(deviation.kind == "dataset" for deviation in subject.deviations) and "dataset" not in _listed(allowed):
        yield f"allow_deviations: {allowed}, and the dataset is not the registered one"


def _unused_options(options: Mapping[str, Any], metrics: Metrics) -> Iterator[str]:
    """Yield the recorded options that a run with this store refuses."""
    kind = find_store(metrics.store.name)
    for name, value in options_of_record(options).items():
        option = kind.find_option(name) if kind else None
        if kind and option is None:
            yield f"{name}: {value} asked for, which {metrics.store.name} has no use for"
        elif option and option.values and value not in option.values:
            yield f"{name}: {value} asked for, which is not known"
    if options["backend"] not in get_args(Backend):
        yield f"backend: {options['backend']} asked for, which is not known"


def _command(words: Any, options: Mapping[str, Any], metrics: Metrics) -> Iterator[str]:
    """Yield the options of the command line that are recorded otherwise."""
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words) or words[:1] != ["recallbench"]:
        yield "environment.json holds no command"
        return
    flags = _flags(words)
    named = {*chain.from_iterable(GROUPS.get(word, (word,)) for word in words)}
    corpus = str(options["corpus"])
    if words[1:2] == ["run"] and corpus not in named and not _is_own_corpus(corpus, flags):
        yield f"the command does not name {corpus}"
    stores = _values(words, "store") if words[1:2] == ["run"] else []
    if len(stores) > 1 and str(options["store"]) in stores:
        # One command measured several stores; an encoder is for those that search vectors.
        del flags["store"]
        if metrics.embedder is None:
            for flag in ("embedder", "max-tokens", "dtype"):
                flags.pop(flag, None)
    for flag, value in flags.items():
        name, stated = _stated_value(flag, options, metrics)
        if name not in _ELSEWHERE and not _alike(flag, value, stated, metrics):
            yield f"--{flag} {value} in the command, {stated} in the options"


def _is_own_corpus(corpus: str, flags: Mapping[str, str]) -> bool:
    """Return whether options, those of a variable or settings file too, may have given a corpus of one's own."""
    if not is_own_name(corpus):
        return False
    name, shape = corpus.removeprefix(OWN_PREFIX).partition("@")[0], corpus.rpartition("+")[2]
    # Without a name it is called like its file.
    return flags.get("corpus-shape", shape) == shape and folder_word(flags.get("name") or name) == name


def _flags(words: Sequence[str]) -> dict[str, str]:
    """Return the options of a command line with their values. Of an option given twice, the last counts."""
    values: dict[str, str] = {}
    for word, following in zip(words, [*words[1:], ""], strict=True):
        if word.startswith("--"):
            flag, equals, value = word.removeprefix("--").partition("=")
            # `--x/--no-x` are two names of one option.
            values.pop(flag.removeprefix("no-") if flag.startswith("no-") else f"no-{flag}", None)
            value = value if equals else following
            if flag in STORE_OPTION:
                name, equals, assigned = value.partition("=")
                flag, value = f"{flag} {name}", assigned if equals else value
            values[flag] = value
    return values


def _values(words: Sequence[str], name: str) -> list[str]:
    """Return the values of an option that may be given several times."""
    spaced = [value for word, value in pairwise(words) if word == f"--{name}"]
    return spaced + [word.partition("=")[2] for word in words if word.startswith(f"--{name}=")]


_UNKNOWN = object()
"""The value of an option that a result does not record."""


def _stated_value(flag: str, options: Mapping[str, Any], metrics: Metrics) -> tuple[str, Any]:
    """Return the name and value in environment.json of an option of the command line."""
    flags = {option.flag: option.name for option in store_options() if option.flag}
    setting, _, name = flag.partition(" ")
    if flag in flags or (name and setting in STORE_OPTION):
        own = flags.get(flag) or name
        return own, options_of_record(options).get(own)
    name = flag.replace("-", "_")
    for spelling in (name, f"{name}s", name.removeprefix("no_")):
        if spelling in options:
            return spelling, options[spelling]
    if name in (MAX_TOKENS, "pipeline"):
        return name, None
    if name == "dtype":
        return name, "fp32"
    if name == "controls":
        return name, "bm25"
    if name == "time":  # recorded only where it is not kept
        return name, "kept"
    # Some options are in metrics.json under their own name.
    return name, metrics.retrieval.model_dump().get(name, _UNKNOWN)


def _alike(flag: str, value: str, stated: Any, metrics: Metrics) -> bool:
    if stated is _UNKNOWN:
        return True
    if flag == "pipeline":
        return stated is not None and Path(value).name == str(stated).removesuffix(SEARCH_ALONE).strip()
    if isinstance(stated, bool):
        return stated != flag.startswith("no-")
    if isinstance(stated, list):
        return value in stated
    if isinstance(stated, int) or (flag == "limit" and stated is None):
        number = int(value) if value.strip().isdecimal() else None
        # A limit that reaches all questions is none.
        return number == stated or (stated is None and number is not None and number >= metrics.retrieval.asked)
    return value == stated or (not value and stated is None)


def _listed(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else ()


OPTIONS = Examination("RB-OPTIONS", "options", "the command's options and the result agree", options)
