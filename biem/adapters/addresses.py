"""Validates addresses before any client parses them, because a client's error quotes them."""

import re
from collections.abc import Mapping, Sequence

from biem.errors import ConfigError
from biem.redaction import learn_url

_ENCODED = (
    "a special character of a password is written percent-encoded: % is %25, @ is %40, / is %2F, ? is %3F, # is %23, "
    ": is %3A, a blank is %20"
)
POSTGRES = ("postgresql", "postgres")
REDIS = ("redis", "rediss", "unix")
MILVUS = ("http", "https", "tcp", "unix")
HTTP = ("http", "https")
_EXAMPLES: Mapping[Sequence[str], str] = {
    POSTGRES: "a PostgreSQL URL such as postgresql://user@host/db",
    REDIS: "a Redis URL such as redis://host:6379/0",
    MILVUS: "a Milvus URI such as http://host:19530",
    HTTP: "a URL such as http://host:8080/v1",
}


def require_postgres(dsn: str, setting: str = "BIEM_POSTGRES_DSN") -> str:
    """`dsn` unchanged; `ConfigError` names the setting and what is wrong with it, and quotes nothing."""
    learn_url(dsn)
    if "://" in dsn:
        _require(dsn, POSTGRES, setting)
    if not _libpq_reads(dsn):
        raise ConfigError(f"{setting} is not {_EXAMPLES[POSTGRES]}, or a list such as host=h dbname=db; {_ENCODED}")
    return dsn


def require_redis(url: str, setting: str = "BIEM_REDIS_URL") -> str:
    """As `require_postgres`, for Redis or Valkey."""
    return _require(url, REDIS, setting)


def require_milvus(uri: str, setting: str = "BIEM_MILVUS_URI") -> str:
    """As `require_postgres`, for Milvus; a socket or a file of Milvus Lite has no host."""
    if uri.startswith("unix:") or ("://" not in uri and "@" not in uri and uri.endswith(".db")):
        return uri
    return _require(uri, MILVUS, setting)


def require_http(url: str, setting: str) -> str:
    """As `require_postgres`, for an HTTP server."""
    return _require(url, HTTP, setting)


def require_broker(urls: str, setting: str = "BIEM_BROKER_URL") -> str:
    """As `require_postgres`, for Celery's broker: any scheme, and several addresses separated by ;."""
    for url in urls.split(";"):
        _require(url, (), setting)
    return urls


def _require(url: str, schemes: Sequence[str], setting: str) -> str:
    learn_url(url)
    if fault := _fault(url, schemes):
        example = _EXAMPLES.get(schemes, "a URL such as amqp://user@host//")
        raise ConfigError(f"{setting} {fault}: it must be {example}; {_ENCODED}")
    return url


def _fault(url: str, schemes: Sequence[str]) -> str:
    """What is wrong with a URL, without quoting it; empty when nothing is."""
    scheme, mark, rest = url.partition("://")
    if not mark or not re.fullmatch(r"[A-Za-z][A-Za-z0-9+.-]*", scheme):
        return "has no scheme"
    if schemes and scheme.lower() not in schemes:
        return "has a scheme of another kind of server"
    if re.search(r"[\s\x00-\x1f\x7f]", rest):
        return "has a blank or a control character"
    if re.search(r"%(?![0-9A-Fa-f]{2})", rest):
        return "has a % that is not followed by two hexadecimal digits"
    if schemes is POSTGRES and (found := re.match(r"[^@/]*@", rest)):
        rest = f"@{rest[found.end() :]}"  # libpq accepts ? and # in a login unencoded
    authority, path = re.match(r"([^/?#]*)(.*)", rest, re.DOTALL).groups()  # type: ignore[union-attr]  # always matches
    if authority.count("@") > 1:
        return "has more than one @ before its host"
    if "#" in path or "@" in path.partition("?")[0] or "@" in path.partition("=")[0]:
        return "has an unencoded special character in its password"
    return _fault_of_hosts(authority.rpartition("@")[2])


def _fault_of_hosts(hosts: str) -> str:
    for host in hosts.split(","):
        name, port = re.fullmatch(r"(\[[^\]]*\]|[^:]*)(.*)", host, re.DOTALL).groups()  # type: ignore[union-attr]
        if port and not (re.fullmatch(r":\d{0,5}", port) and int(port[1:] or 0) <= 65535):
            return "has a port that is not a number"
        if not re.fullmatch(r"\[[0-9A-Fa-f:.%]*\]|[\w.%~-]*", name):
            return "has an invalid host name"
    return ""


def _libpq_reads(dsn: str) -> bool:
    import psycopg  # noqa: PLC0415 - a command that needs no PostgreSQL does not load its client

    try:
        read = psycopg.conninfo.conninfo_to_dict(dsn)
    except psycopg.Error:
        return False
    ports = str(read.get("port") or "").split(",")
    return all(port == "" or port.isdecimal() for port in ports) and "@" not in str(read.get("host") or "")
