"""HTTP clients whose connections, also through proxies of the environment, keep to the limit in force."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from ipaddress import ip_network
from typing import TYPE_CHECKING, Any

from recallbench.connections import limited_backend

if TYPE_CHECKING:
    import httpx2


def web_client(*, trust_env: bool = True, **options: Any) -> httpx2.Client:
    """Return a client of httpx2 with these options; without `trust_env` it goes by no proxy.

    Raises ValueError, InvalidURL or ImportError for a proxy that can't be used.
    """
    import httpx2

    context = httpx2.create_ssl_context(trust_env=trust_env)
    # A client that is given a transport reads no proxies itself.
    proxies = environment_proxies() if trust_env else {}
    mounts = {pattern: None if proxy is None else _transport(context, proxy) for pattern, proxy in proxies.items()}
    return httpx2.Client(transport=_transport(context), mounts=mounts, trust_env=trust_env, **options)


def environment_proxies() -> dict[str, str | None]:
    """Return the proxies of the environment by httpx2's mount patterns; None for those that NO_PROXY exempts."""
    from urllib.request import getproxies  # brings the standard library's own HTTP along

    named = getproxies()
    exempt = [host.strip() for host in named.get("no", "").split(",") if host.strip()]
    if "*" in exempt:
        return {}
    urls = {f"{scheme}://": url for scheme in ("http", "https", "all") if (url := named.get(scheme))}
    proxies = {scheme: url if "://" in url else f"http://{url}" for scheme, url in urls.items()}
    return {**proxies, **dict.fromkeys(filter(None, map(_exempt_pattern, exempt)))}


def _exempt_pattern(host: str) -> str:
    """Return httpx2's pattern for an entry of NO_PROXY; empty for an entry that makes no sense."""
    import httpx2

    address, slash, bits = host.partition("/")
    if "://" in host:
        pattern = host
    elif host.startswith("[") or host.lower() == "localhost":
        pattern = f"all://{host}"
    elif _is_network(host):
        pattern = f"all://[{address}]{slash}{bits}" if ":" in address else f"all://{host}"
    elif not slash:
        pattern = f"all://*{host}"
    else:
        return ""
    try:
        httpx2.URL(pattern)
    except httpx2.InvalidURL:
        return ""
    return pattern


def _is_network(host: str) -> bool:
    try:
        ip_network(host, strict=False)
    except ValueError:
        return False
    # Python also reads a mask written as an address, httpx2 does not.
    return "/" not in host or host.rpartition("/")[2].isdigit()


def _transport(context: Any, address: str | None = None) -> httpx2.BaseTransport:
    """Return httpx2's own transport in all but the sockets, which httpx2 lets nobody choose."""
    import httpcore2
    import httpx2

    proxy = None
    if address is not None:
        named = httpx2.Proxy(address)
        if named.url.scheme.startswith("socks") and find_spec("socksio") is None:
            raise ImportError("a SOCKS proxy needs the package socksio")
        proxy = httpcore2.Proxy(str(named.url), auth=named.raw_auth)
    pool = httpcore2.ConnectionPool(
        context, proxy=proxy, max_connections=100, keepalive_expiry=5.0, network_backend=limited_backend()
    )

    class Body(httpx2.SyncByteStream):
        def __init__(self, pieces: Iterable[bytes]) -> None:
            self._pieces = pieces

        def __iter__(self) -> Iterator[bytes]:
            with _errors_of_httpx2():
                yield from self._pieces

        def close(self) -> None:
            if hasattr(self._pieces, "close"):
                self._pieces.close()

    class Transport(httpx2.BaseTransport):
        def handle_request(self, request: httpx2.Request) -> httpx2.Response:
            url = request.url
            assert isinstance(request.stream, httpx2.SyncByteStream)
            sent = httpcore2.Request(
                request.method,
                httpcore2.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
                headers=request.headers.raw,
                content=request.stream,
                extensions=request.extensions,
            )
            with _errors_of_httpx2():
                reply = pool.handle_request(sent)
            assert isinstance(reply.stream, Iterable)
            return httpx2.Response(
                reply.status, headers=reply.headers, stream=Body(reply.stream), extensions=reply.extensions
            )

        def close(self) -> None:
            pool.close()

    return Transport()


@contextmanager
def _errors_of_httpx2() -> Iterator[None]:
    """Raise errors of httpcore2 as those that httpx2 documents: they have the same names."""
    import httpcore2
    import httpx2

    known = (httpcore2.TimeoutException, httpcore2.NetworkError, httpcore2.ProtocolError)
    try:
        yield
    except (*known, httpcore2.ProxyError, httpcore2.UnsupportedProtocol) as error:
        raise getattr(httpx2, type(error).__name__)(str(error)) from error
