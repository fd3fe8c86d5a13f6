"""The apps: which settings each takes, which of them change live, and how they become flags and environment.

    AppSpec             one app: its folder, its heap and collector, its settings
    AppSetting          one setting: its control, whether it changes live, its field in /settings
    jvm_flags()         the JVM's flags; the training run of the AOT cache takes the same ones
    environment()       the start values that are not flags
    differences()       what the server says against what it was asked for

Both runtimes start the same app from this table. A setting that has its default value is not passed on: then
the server's own default is what the reader sees.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from waitlab import limits, paths
from waitlab.controls import Control, Settings, Value, nearest, settle
from waitlab.errors import ControlError, quoted

DEFAULT_CPUS = 2


@dataclass(frozen=True, slots=True)
class AppSetting:
    """A setting of an app. `live`: it changes without a restart. `read`: its field in /settings.

    `cache`: the AOT cache that serves the app where this is on, since it then runs other code.
    """

    control: Control
    read: str
    live: bool = False
    flag: str = ""
    env: str = ""
    cache: str = ""


@dataclass(frozen=True, slots=True)
class AppSpec:
    """A server that can be started by name; `heap_mb` is in MiB, `ready` is the path that must answer 200.

    `queries` are paths that ask the database, one for each pool of connections. `module` is its folder in the
    Maven build where that has another name; `boot` tells a jar of Spring Boot's from a plain one with its lib/.
    """

    name: str
    settings: tuple[AppSetting, ...]
    heap_mb: int = 384
    collector: str = "SerialGC"
    ready: str = "/fast"
    queries: tuple[str, ...] = ()
    flags: tuple[str, ...] = field(default=())
    module: str = ""
    boot: bool = True

    @property
    def source(self) -> Path:
        """The app's own folder in the Maven build."""
        return paths.APPS / (self.module or self.name)

    @property
    def folder(self) -> Path:
        """Where the build leaves the app: app.jar, lib/ and app.aot."""
        return self.source / "target" / "app"

    def settle(self, given: Mapping[str, object]) -> dict[str, Value]:
        """All settings with their values, checked; ControlError if one is wrong or unknown."""
        settled = settle([s.control for s in self.settings], given, self.name)
        if "jdbc_pool_size" in settled:
            asked, allowed = float(settled["jdbc_pool_size"]), limits.jdbc_connections()
            limits.refuse_above("jdbc_pool_size", asked, allowed, "the database gives")
        if "r2dbc_pool_size" in settled:
            both = float(settled["jdbc_pool_size"]) + float(settled["r2dbc_pool_size"])
            what, allowed = "jdbc_pool_size and r2dbc_pool_size together", limits.database_connections()
            limits.refuse_above(what, both, allowed, "the database gives")
        if "pool_size" in settled:
            limits.refuse_above("pool_size", float(settled["pool_size"]), limits.threads(), "one JVM may have")
        if settled.get("open_in_view") and not settled["trains"]:
            raise limits.not_together(
                "open_in_view=true", "trains=false", "there is no JPA without them", "trains=true"
            )
        return settled

    def defaults(self, settings: Settings) -> dict[str, Value]:
        """The defaults that hold beside these settings."""
        return {s.control.name: s.control.default_for(settings) for s in self.settings}


def _event_loops(settings: Settings) -> int:
    """Reactor Netty's own rule."""
    return max(int(settings["cpus"]), 4)


def _elastic(settings: Settings) -> int:
    """Reactor's own rule for boundedElastic."""
    return 10 * int(settings["cpus"])


_CPUS = AppSetting(
    Control("cpus", int, DEFAULT_CPUS, "CPUs", 1, 64),
    read="available_processors",
    flag="-XX:ActiveProcessorCount={}",
)
_JDBC_POOL = AppSetting(
    Control("jdbc_pool_size", int, 10, "connections", 1, 1000),
    read="jdbc_pool_size",
    live=True,
    env="JDBC_POOL_SIZE",
)
_WORKERS = AppSetting(Control("pool_size", int, 200, "threads", 1, 5000), read="pool_size", live=True, env="POOL_SIZE")

WEBFLUX = AppSpec(
    "webflux",
    settings=(
        _CPUS,
        AppSetting(
            Control("event_loops", int, _event_loops, "threads", 1, 256, computed="max(cpus, 4)"),
            read="event_loops",
            flag="-Dreactor.netty.ioWorkerCount={}",
        ),
        AppSetting(
            Control("accept", str, "shared", choices=("shared", "own")),
            read="accept",
            flag="-Dreactor.netty.ioSelectCount=1",
        ),
        AppSetting(Control("blockhound", bool, False), read="blockhound", env="BLOCKHOUND"),
        AppSetting(
            Control("offload_pool_size", int, _elastic, "threads", 1, 2000, computed="10 x cpus"),
            read="offload_pool_size",
            live=True,
            env="OFFLOAD_POOL_SIZE",
        ),
        _JDBC_POOL,
        AppSetting(
            Control("r2dbc_pool_size", int, 10, "connections", 1, 250),
            read="r2dbc_pool_size",
            live=True,
            env="R2DBC_POOL_SIZE",
        ),
    ),
    queries=("/jdbc-isolated?s=0", "/r2dbc?s=0"),
)

MVC = AppSpec(
    "mvc",
    settings=(
        _CPUS,
        _WORKERS,
        _JDBC_POOL,
        AppSetting(
            Control("connection_timeout_ms", int, 60_000, "ms", 250, 60_000),
            read="connection_timeout_ms",
            live=True,
            env="JDBC_QUEUE_TIMEOUT",
        ),
        AppSetting(
            Control("trains", bool, False), read="trains", flag="-Dspring.profiles.active=trains", cache="trains.aot"
        ),
        AppSetting(Control("open_in_view", bool, False), read="open_in_view", flag="-Dspring.jpa.open-in-view=true"),
    ),
    heap_mb=1024,  # a request in flight takes Tomcat about 120 kB, and 5,000 may be
    queries=("/work?ms=0&downstream=postgres",),
)

PLAIN = AppSpec(
    "plain",
    settings=(
        _CPUS,
        _WORKERS,
        AppSetting(Control("model", str, "request", choices=("request", "connection")), read="model", env="MODEL"),
    ),
    flags=("-Dwaitlab.experiment=server",),
    module="jvm",
    boot=False,
)

APPS: dict[str, AppSpec] = {spec.name: spec for spec in (WEBFLUX, MVC, PLAIN)}

BLOCKHOUND_FLAGS = ("-XX:+AllowRedefinitionToAddDeleteMethods", "-XX:+EnableDynamicAgentLoading")
"""What BlockHound needs to rewrite the JDK's own methods."""


def spec_for(name: str) -> AppSpec:
    """The app of that name; ControlError offers the nearest ones."""
    if name in APPS:
        return APPS[name]
    raise ControlError(f"There is no app named {quoted(name)}.", tip=nearest(name, APPS))


def jvm_flags(spec: AppSpec, settings: Settings) -> list[str]:
    """The JVM's flags for these settings; those left out have their defaults."""
    return [
        f"-Xmx{spec.heap_mb}m",
        f"-XX:+Use{spec.collector}",
        "-XX:-UsePerfData",
        "-XX:+ExitOnOutOfMemoryError",
        "-Dfile.encoding=UTF-8",
        *spec.flags,
        *(BLOCKHOUND_FLAGS if settings.get("blockhound") else ()),
        *_setting_flags(spec, settings),
    ]


def uses_cache(settings: Settings) -> bool:
    """Whether the AOT cache serves these settings: an agent does not belong in a cached launch."""
    return not settings.get("blockhound")


def environment(spec: AppSpec, settings: Settings) -> dict[str, str]:
    """The start values that the app reads from its environment."""
    return {s.env: _text(value) for s, value in _not_default(spec, settings) if s.env}


def is_live(spec: AppSpec, name: str) -> bool:
    """Whether the setting of that name changes without a restart."""
    return any(s.live for s in spec.settings if s.control.name == name)


def differences(spec: AppSpec, asked: Settings, found: Mapping[str, Any]) -> list[str]:
    """Sentences for the settings that the server reads back otherwise than asked; empty if none."""
    return [
        f"{s.control.name} is {found.get(s.read)!r} instead of {asked[s.control.name]!r}"
        for s in spec.settings
        if s.control.name in asked and found.get(s.read) != asked[s.control.name]
    ]


def _setting_flags(spec: AppSpec, settings: Settings) -> list[str]:
    """Flags of the settings; the processor count always, since the host's count is no default of ours."""
    given = {"cpus": DEFAULT_CPUS, **settings}
    always = [s.flag.format(given["cpus"]) for s in spec.settings if s.control.name == "cpus"]
    others = [(s, value) for s, value in _not_default(spec, given) if s.flag and s.control.name != "cpus"]
    return always + [s.flag.format(value) for s, value in others]


def _not_default(spec: AppSpec, settings: Settings) -> list[tuple[AppSetting, Value]]:
    """The settings that are given and differ from what the app would take by itself."""
    given = {"cpus": DEFAULT_CPUS, **settings}
    defaults = spec.defaults(given)
    names = {s.control.name: s for s in spec.settings}
    return [(names[n], v) for n, v in settings.items() if n in names and v != defaults[n]]


def _text(value: Value) -> str:
    """A value as the environment carries it: booleans as 1 and 0."""
    return str(int(value)) if isinstance(value, bool) else str(value)
