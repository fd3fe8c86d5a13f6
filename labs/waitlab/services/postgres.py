"""The lab's PostgreSQL: made for one lab, reached over loopback TCP with a random password, thrown away.

Nothing here is meant to survive: no fsync, a small log of changes. The role `lab` owns the database `lab` and
is no superuser. The administrator's password exists only while the database is being made.
"""

from __future__ import annotations

import os
import secrets
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from waitlab import limits
from waitlab.errors import ServiceDied, ServiceError, ServiceTimeout
from waitlab.services import accounts, state
from waitlab.services.link import Child, Link
from waitlab.services.processes import remove_folder

HOST = "127.0.0.1"
NAME = USER = "lab"
ADMIN = "waitlab_admin"
INITDB_S = 30.0
READY_S = 20.0
PROBE_S = 1.0
SERVICE = "db"

SETTINGS = {
    "listen_addresses": HOST,
    "unix_socket_directories": "",
    "max_connections": str(limits.DATABASE_CONNECTIONS),
    "shared_buffers": "64MB",
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "max_wal_size": "64MB",
    "autovacuum": "off",
    "jit": "off",
    "huge_pages": "off",
    "dynamic_shared_memory_type": "mmap",
    "log_min_error_statement": "panic",
    "lc_messages": "C",
    "timezone": "UTC",
    "log_timezone": "UTC",
}


class PortTaken(ServiceDied):
    """Somebody else took the port before the server could."""


@dataclass
class Postgres:
    """One database server of one lab; `port` is chosen when it first starts, and kept."""

    link: Link
    lab_folder: Path
    home: Path
    environment: dict[str, str]
    port: int = 0
    password: str = field(default_factory=lambda: secrets.token_hex(24), repr=False)
    folder: Path | None = None
    account: accounts.Account | None = None

    @property
    def log(self) -> Path:
        """Where the server writes what it has to say."""
        return self.lab_folder / "logs" / f"{SERVICE}.log"

    def running(self) -> bool:
        """Whether the server process is there."""
        child = self.link.child(SERVICE)
        return child is not None and child.running

    def reserve(self) -> int:
        """The port on which the server is going to listen."""
        self.port = self.port or int(self.link.ask("reserve")["port"])
        return self.port

    def ensure(self) -> bool:
        """Starts the server if it is not running; when this returns it has answered a query over TCP.

        True if it had to be started.
        """
        if self.running():
            return False
        if self.folder is None:
            self._make()
        else:
            self._serve()
            self._until_ready(USER, NAME, self.password)
        return True

    def _make(self) -> None:
        """Makes the database from nothing; what was half made is forgotten."""
        self.account = accounts.lent_account()
        folder = accounts.data_folder(self.lab_folder, self.account)
        self.link.ask("note", facts={"folders": [str(folder)]})
        accounts.make_folder(folder, self.account)
        self.folder = folder
        admin = secrets.token_hex(24)
        loading = threading.Thread(target=_load_driver, daemon=True)
        loading.start()
        try:
            self._initdb(folder, admin)
            self._serve()
            self._until_ready(ADMIN, "postgres", admin)
            self._create(admin)
            self._until_ready(USER, NAME, self.password)
        except BaseException:
            self._unmake(folder)
            raise

    def _unmake(self, folder: Path) -> None:
        """Forgets what was half made, so that the next start begins afresh."""
        if self.link.alive:
            self.link.stop(SERVICE)
        remove_folder(folder)
        self.folder = None

    def _initdb(self, folder: Path, admin: str) -> None:
        """Runs initdb under the supervisor; the password reaches it by a file that only it can read."""
        secret = folder / "password"
        _write_secret(secret, admin, self.account)
        options = ["--auth=scram-sha-256", "--encoding=UTF8", "--locale=C", "--no-sync", "--no-instructions"]
        where = [f"--pgdata={folder / 'data'}", f"--username={ADMIN}", f"--pwfile={secret}"]
        command = [str(self.home / "bin" / "initdb"), *where, *options]
        try:
            self._spawn("initdb", accounts.with_a_name(command))
            child = self._until_ended("initdb", INITDB_S)
        finally:
            secret.unlink(missing_ok=True)
        if child.code != 0:
            raise _initdb_failed(state.tail(self.lab_folder / "logs" / "initdb.log", 10))

    def _until_ended(self, name: str, within_s: float) -> Child:
        end = time.monotonic() + within_s
        while time.monotonic() < end:
            child = self.link.child(name)
            if child is not None and not child.running:
                return child
            self.link.wait(0.2)
        self.link.stop(name)
        raise ServiceTimeout(
            f"PostgreSQL's {name} did not end within {within_s:g} s.",
            found="; ".join(state.tail(self.lab_folder / "logs" / f"{name}.log", 3)) or "no word from it",
            tip="look at the machine's load and disk, then run the cell again.",
        )

    def _serve(self) -> None:
        """Starts the server process on its port."""
        assert self.folder is not None
        settings = [f"--{name}={value}" for name, value in {**SETTINGS, "port": str(self.reserve())}.items()]
        argv = [str(self.home / "bin" / "postgres"), "-D", str(self.folder / "data"), *settings]
        self._spawn(SERVICE, argv, stop="SIGINT")
        self.link.ask("note", name=SERVICE, facts={"port": self.port, "host": HOST})

    def _spawn(self, name: str, argv: list[str], **options: Any) -> Child:
        log = str(self.lab_folder / "logs" / f"{name}.log")
        who = {"uid": self.account.uid, "gid": self.account.gid} if self.account else {}
        place = {"cwd": str(self.folder), "env": self.environment, "log": log}
        return self.link.start(name, argv=argv, **place, **who, **options)

    def _until_ready(self, user: str, database: str, password: str) -> None:
        """Waits for an answer to a query; notices death at once."""
        end = time.monotonic() + READY_S
        while time.monotonic() < end:
            self._check_alive()
            if _answers(self.port, user, database, password):
                return
            self.link.wait(0.02)
        raise ServiceTimeout(
            f"PostgreSQL did not answer a query on port {self.port} within {READY_S:g} s.",
            found="; ".join(state.tail(self.log, 3)) or "an empty log",
            tip="look at the machine's load, then run the cell again.",
        )

    def _create(self, admin: str) -> None:
        """Makes the role and its database; the password is a literal of hexadecimal digits of our own."""
        connection = _connect(self.port, ADMIN, "postgres", admin, READY_S)
        try:
            connection.run(f"CREATE ROLE {USER} LOGIN NOSUPERUSER PASSWORD '{self.password}'")
            connection.run(f"CREATE DATABASE {NAME} OWNER {USER}")
        finally:
            connection.close()

    def _check_alive(self) -> None:
        if self.running():
            return
        said = "; ".join(state.tail(self.log, 5))
        kind = PortTaken if "Address already in use" in said else ServiceDied
        raise kind(
            "PostgreSQL ended before it answered a query.",
            found=said or "an empty log",
            tip="free some memory and disk, then run the cell again.",
        )


def _load_driver() -> None:
    """Loads the database driver while initdb works."""
    import pg8000.native  # noqa: F401


def _answers(port: int, user: str, database: str, password: str) -> bool:
    """Whether a query is answered now; a stranger on the port may be silent, so the patience is short."""
    import pg8000.native as driver

    try:
        connection = _connect(port, user, database, password, PROBE_S)
        try:
            return bool(connection.run("SELECT 1") == [[1]])
        finally:
            connection.close()
    except (driver.InterfaceError, driver.DatabaseError, OSError):
        return False


def _connect(port: int, user: str, database: str, password: str, within_s: float) -> Any:
    import pg8000.native as driver

    return driver.Connection(
        user, host=HOST, port=port, database=database, password=password, timeout=within_s, ssl_context=False
    )


def _write_secret(file: Path, text: str, account: accounts.Account | None) -> None:
    """Writes a file that only its reader may read."""
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as handle:
        handle.write(text)
        if account:
            os.fchown(handle.fileno(), account.uid, account.gid)


def _initdb_failed(lines: list[str]) -> ServiceError:
    said = "; ".join(line.strip() for line in lines if line.strip())
    if "could not look up effective user ID" in said:
        return ServiceError(
            f"PostgreSQL needs a user that has a name, and user {os.geteuid()} has none here.",
            found=said,
            tip="run as a user of this machine, or add a line for this one to /etc/passwd.",
        )
    return ServiceError("PostgreSQL's data folder could not be made.", found=said, tip="see `df` for free disk.")
