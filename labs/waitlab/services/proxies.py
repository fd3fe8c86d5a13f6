"""The proxy of the environment (HTTPS_PROXY, HTTP_PROXY, NO_PROXY), said in Java's own options."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import unquote, urlsplit


def proxy_options(environment: Mapping[str, str]) -> list[str]:
    """Java options for the proxy that the environment names; none if it names none."""
    options = [
        option for scheme in ("https", "http") for option in _options(scheme, _variable(environment, f"{scheme}_proxy"))
    ]
    if not options:
        return []
    hosts = [_host_pattern(host) for host in _variable(environment, "no_proxy").split(",") if host.strip()]
    direct = [f"-Dhttp.nonProxyHosts={'|'.join(hosts)}"] if hosts else []
    return [*options, *direct, "-Daether.connector.http.useSystemProperties=true"]


def _variable(environment: Mapping[str, str], name: str) -> str:
    return environment.get(name) or environment.get(name.upper()) or ""


def _options(scheme: str, address: str) -> list[str]:
    if not address:
        return []
    parts = urlsplit(address if "://" in address else f"http://{address}")
    options = [
        f"-D{scheme}.proxyHost={parts.hostname or ''}",
        f"-D{scheme}.proxyPort={parts.port or (443 if parts.scheme == 'https' else 80)}",
    ]
    if parts.username:
        options.append(f"-D{scheme}.proxyUser={unquote(parts.username)}")
        options.append(f"-D{scheme}.proxyPassword={unquote(parts.password or '')}")
        options.append("-Djdk.http.auth.tunneling.disabledSchemes=")
    return options


def _host_pattern(host: str) -> str:
    """`.example.org` and `example.org` of NO_PROXY, as Java writes them."""
    name = host.strip()
    return f"*{name}" if name.startswith(".") else name
