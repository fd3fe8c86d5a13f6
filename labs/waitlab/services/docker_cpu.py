"""The bare server under a CPU limit in hundredths, for what such a limit does.

Its settings are CPUs of the container (0 = no limit) and threads; both restart it. The JVM is not told a number of
processors: what it makes of the limit is part of what is shown.
"""

from __future__ import annotations

from typing import Any

from waitlab.controls import Control, Settings
from waitlab.services import docker_cgroup, docker_containers
from waitlab.services.apps import PLAIN, AppSetting, AppSpec
from waitlab.services.docker_app import DockerApp

CPU = AppSpec(
    "cpu",
    settings=(
        AppSetting(Control("cpus", float, 0.5, "CPUs", 0, 64), read="cpu_limit"),
        AppSetting(Control("threads", int, 4, "threads", 1, 64), read="pool_size"),
    ),
    flags=PLAIN.flags,
    module=PLAIN.module,
    boot=PLAIN.boot,
)


class CpuApp(DockerApp):
    """The bare server in a container with a limit."""

    service = "cpu"

    def variables(self, settings: Settings) -> dict[str, str]:
        """What compose.yaml is told for these settings."""
        return {"CPU_LIMIT": f"{float(settings['cpus']):g}", "POOL_SIZE": str(settings["threads"])}

    def settings(self) -> dict[str, Any]:
        """What the server says of itself, and the limit that the kernel holds it to."""
        return self._call("GET", "/settings") | {"cpu_limit": round(self.cpu_stat().limit_cpus, 4)}

    def cpu_stat(self) -> docker_cgroup.CpuStat:
        """The container's CPU now, read inside it."""
        said = docker_containers.run_in(self._lab.project.host, self._container, docker_cgroup.READ, self.name)
        return docker_cgroup.parse(said)
