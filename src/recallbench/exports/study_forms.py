"""The tables of latency studies and sweeps."""

from __future__ import annotations

from recallbench.exports.table_form import Column, TableForm, columns, percentiles

STUDIES = TableForm(
    "latency_studies",
    "a row for each study of latency under load",
    ("study",),
    (
        Column("study", "text", "sha256 of the manifest"),
        Column("folder", "text", "the name of the folder"),
        Column("made", "moment", "when it started"),
        Column("corpus", "text", "whose questions were asked"),
        Column("dataset_sha256", "text", "of the corpus file"),
        *columns(
            "whole", questions="different questions", depth="hits asked for", seed="of the order of the questions"
        ),
        Column("seconds", "number", "of each level"),
        Column("arrivals", "text", "poisson or constant"),
        Column("finished", "flag", "no interruption ended it"),
        *columns("text", cpu="processor of the machine", recallbench_version="that measured it"),
    ),
)
LEVELS = TableForm(
    "latency_levels",
    "a row for each level of load",
    ("study", "level"),
    (
        Column("study", "text", "the study it is of"),
        Column("level", "whole", "its number"),
        *columns(
            "text",
            side="A, or B where two systems were asked in turns",
            store="the system",
            variant="its settings that are not defaults",
            version="as the store stated it",
            pipeline="the stages in words",
            embedder="the encoder; empty where there is none",
            loop="closed or open",
        ),
        *columns(
            "whole", size="times its own size that a haystack had", stored="segments in the store", clients="at once"
        ),
        *columns(
            "number", rate="questions a second that came; empty of a closed loop", utilisation="share of the saturation"
        ),
        *columns("whole", n="answers", failed="questions that failed", skipped="arrivals that nobody was free for"),
        *columns("number", seconds="how long", throughput="answers a second"),
        *percentiles("milliseconds from the moment the question was to start"),
        *columns("number", slowest_ms="the slowest answer", lag_p99_ms="of the generator itself"),
        Column("at_least", "flag", "calls without an answer could raise the percentiles"),
        Column("void", "flag", "nothing follows from this level"),
        Column("why_void", "text", "why"),
        Column("saturated", "flag", "the rate can't be reached"),
        Column("quiet", "flag", "nothing is known to have disturbed it"),
    ),
)
QUALITY = TableForm(
    "latency_quality",
    "a row for each measure of the answers that a level timed",
    ("study", "level", "measure"),
    (
        Column("study", "text", "the study it is of"),
        Column("level", "whole", "its number"),
        Column("measure", "text", "what is counted"),
        Column("n", "whole", "answers"),
        *columns(
            "number",
            value="the mean over them",
            low="lower end of the 95% interval",
            high="upper end",
            chance="what a random order would reach",
        ),
    ),
)
SWEEPS = TableForm(
    "sweeps",
    "a row for each sweep",
    ("sweep",),
    (
        Column("sweep", "text", "sha256 of the manifest"),
        Column("folder", "text", "the name of the folder"),
        Column("made", "moment", "when it started"),
        *columns(
            "text",
            name="of its file",
            file_sha256="of its file",
            corpus="whose questions were asked",
            dataset_sha256="of the corpus file",
            method="grid, list or random",
            measure="what the choice is made by",
        ),
        *columns("whole", questions="asked of every point", depth="of the rankings", seed="of the draw"),
        Column("gates", "texts", "what a point has to keep"),
        *columns(
            "text",
            chosen="the point that was chosen; empty where none keeps the gates",
            best="the point seen best",
            cheapest="that costs least of those that can't be told from the best",
            knee="the point at the knee; empty without one",
        ),
        Column("shown", "flag", "the chosen point is shown to be no worse than all others"),
        Column("margin", "number", "by how much it may be worse"),
        Column("gain", "number", "held-out value of the chosen point less that of the system as it was"),
        Column("gain_low", "number", "lower end of the interval"),
        Column("gain_high", "number", "upper end"),
        Column("recallbench_version", "text", "that measured it"),
    ),
)
POINTS = TableForm(
    "sweep_points",
    "a row for each point of a sweep",
    ("sweep", "point"),
    (
        Column("sweep", "text", "the sweep it is of"),
        Column("point", "text", "its name; baseline for the system as it was"),
        Column("position", "whole", "its place in the sweep"),
        *columns(
            "text",
            parameters="the values in force of what the sweep varies, name=value",
            store="the system",
            variant="its settings that are not defaults",
            pipeline="the stages in words",
            embedder="the encoder; empty where there is none",
            version="as the store stated it",
        ),
        *columns(
            "number",
            value="of the sweep's measure over all questions",
            low="lower end of the 95% interval",
            high="upper end",
            chance="what a random order would reach",
            tuning="over the questions that the choice is made by",
            held_out="over the others",
            held_out_low="lower end of its interval",
            held_out_high="upper end",
            front_share="share of resamples with it on the Pareto front, with times as measured",
            usd_per_1000="what 1,000 questions cost",
            p50_ms="milliseconds of a single warm search",
            p95_ms="likewise",
        ),
        *columns(
            "whole",
            n="questions",
            timed="searches that were timed",
            dropped_after="questions after which a race dropped it",
        ),
        *columns(
            "flag",
            passes="it keeps every gate",
            in_set="it can't be told from the best",
            on_front="on the Pareto front as measured",
            chosen="it was chosen",
        ),
        *columns(
            "text", measured="the day it was asked", cpu="processor of its times", failure="why it has no figures"
        ),
    ),
)

OF_STUDIES = (STUDIES, LEVELS, QUALITY, SWEEPS, POINTS)
