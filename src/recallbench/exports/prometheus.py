"""`export prometheus`: the newest result of each line as gauges, in a text file or a push gateway."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import urlsplit

from recallbench.addresses import PUSH_GATEWAY, recorded_name, scheme_of
from recallbench.errors import UsageError
from recallbench.exports.export_target import AS_RECORDED, Exported, ExportOption, ExportRequest, ExportTarget
from recallbench.exports.gauges import Gauge, gauges
from recallbench.exports.recorded import Recorded, read_folders
from recallbench.extras import require
from recallbench.reports.printing.conclusion import Conclusion
from recallbench.web_json import Web
from recallbench.whole_file import write_output

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

ENDING = ".prom"
"""node_exporter's textfile collector reads no other files."""


class PrometheusTarget(ExportTarget):
    """Gauges in the text format of Prometheus."""

    name: ClassVar[str] = "prometheus"
    summary: ClassVar[str] = (
        "Write gauges for Prometheus: a file for node_exporter's textfile collector, or a push gateway."
    )
    details: ClassVar[str] = (
        "A line over time is the same system, whatever its version, on the same questions: of several results of one "
        "line the newest by date is exported, the version stands in recallbench_result_info. Void levels of a latency "
        "study are left out."
    )
    example: ClassVar[str] = (
        "recallbench export prometheus results/* --textfile /var/lib/node_exporter/recallbench.prom"
    )
    options: ClassVar[tuple[ExportOption, ...]] = (
        ExportOption("textfile", f"The file, written whole; its name ends in {ENDING}.", "path"),
        ExportOption("push-gateway", "The address of a push gateway, whose group of the job is replaced."),
        ExportOption("job", "The job of the push gateway.", default="recallbench"),
    )

    def export(self, request: ExportRequest) -> Exported:
        require("prometheus", "export prometheus")
        from prometheus_client import generate_latest

        textfile, gateway = request.paths.get("textfile"), request.texts.get("push-gateway")
        if textfile is None and gateway is None:
            raise UsageError(
                "export prometheus needs a place",
                expected="--textfile FILE, or --push-gateway URL",
                found="neither",
                remedy=self.example,
            )
        if textfile is not None and textfile.suffix != ENDING:
            raise UsageError(
                f"--textfile {textfile} would be read by nobody",
                expected=f"a name that ends in {ENDING}",
                found=str(textfile),
            )
        web = None if gateway is None else _web(gateway, request)
        recorded = read_folders(request.folders, request.prices, request.progress)
        made = gauges(recorded)
        registry = _registry(made)
        held, counted = [], _count(made, recorded)
        if textfile is not None:
            write_output(textfile, generate_latest(registry))
            held.append(f"{textfile} holds {counted}")
        if web is not None and gateway is not None:
            job = request.texts["job"]
            _push(web, gateway, job, registry)
            took = "took them too" if held else f"took {counted}"
            held.append(f"{recorded_name(gateway, PUSH_GATEWAY)} {took}, in place of what its job {job} had")
        then = f"query recallbench_measure{'' if web is not None else ', once node_exporter has read the file'}"
        return Exported(Conclusion("; ".join(held), AS_RECORDED, then), _older(made, recorded), recorded)


def _count(made: list[Gauge], recorded: Recorded) -> str:
    return f"{sum(len(gauge.samples) for gauge in made):,} values of {recorded.words}"


def _older(made: list[Gauge], recorded: Recorded) -> list[str]:
    """Return how many results are not in it, since there is a newer one of the same line."""
    lines = next(gauge for gauge in made if gauge.name == "recallbench_result_info")
    older = len(recorded.lines) - len(lines.samples)
    return [f"older results of the same lines, not in it: {older}"] if older else []


def _registry(made: list[Gauge]) -> CollectorRegistry:
    from prometheus_client import CollectorRegistry
    from prometheus_client.core import GaugeMetricFamily

    class Collector:
        def collect(self) -> Any:
            for gauge in made:
                family = GaugeMetricFamily(gauge.name, gauge.help, labels=gauge.labels)
                for labels, value in gauge.samples:
                    family.add_metric([labels[name] for name in gauge.labels], value)
                yield family

    registry = CollectorRegistry()
    registry.register(Collector())
    return registry


def _web(gateway: str, request: ExportRequest) -> Web:
    if not request.texts["job"]:
        raise UsageError("--job is empty", expected="the name of a job", found="nothing")
    if scheme_of(gateway) not in ("http", "https"):
        raise UsageError(
            "--push-gateway is no address", expected=f"such as {PUSH_GATEWAY.example}", found="another text"
        )
    return Web(gateway, request.environ, PUSH_GATEWAY)


def _push(web: Web, gateway: str, job: str, registry: CollectorRegistry) -> None:
    from prometheus_client import push_to_gateway

    base = recorded_name(gateway, PUSH_GATEWAY)
    below = len(urlsplit(base).path)

    def send(url: str, method: str, timeout: float | None, headers: Any, data: bytes) -> Any:
        path = urlsplit(url).path[below:]
        return lambda: web.ask(method, path, data, "taking the values", empty=True)

    push_to_gateway(base, job, registry, handler=send)
    web.close()
