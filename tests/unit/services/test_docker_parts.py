"""Parts of the Docker runtime that need no engine: accounting files, progress, what compose.yaml and the images say."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from waitlab.services import apps, docker_cgroup, docker_images, docker_progress
from waitlab.services.docker_app import SERVICES
from waitlab.services.postgres import SETTINGS

ROOT = Path(__file__).parents[3]
VERSION_1 = """# cpu/cpu.cfs_quota_us
50000
# cpu/cpu.cfs_period_us
100000
# cpu/cpu.stat
nr_periods 20
nr_throttled 7
throttled_time 525000000
# cpuacct/cpuacct.usage
1250000000
"""
VERSION_2 = """# cpu.max
50000 100000
# cpu.stat
usage_usec 1250000
user_usec 1000000
system_usec 250000
nr_periods 20
nr_throttled 7
throttled_usec 525000
"""


@pytest.mark.parametrize("text", [VERSION_1, VERSION_2])
def test_both_versions_of_accounting_tell_the_same(text):
    assert docker_cgroup.parse(text) == docker_cgroup.CpuStat(0.5, 1.25, 7, 0.525)


@pytest.mark.parametrize("text", [VERSION_1.replace("50000\n", "-1\n", 1), VERSION_2.replace("50000 ", "max ", 1)])
def test_no_limit_is_zero(text):
    assert docker_cgroup.parse(text).limit_cpus == 0


def test_a_container_without_accounting_is_an_error():
    with pytest.raises(ValueError, match="no CPU accounting"):
        docker_cgroup.parse("")


def test_a_build_is_told_in_steps():
    told = []
    steps = docker_progress.Steps(["app", "db"], told.append)
    steps.take("#7 [db 1/4] FROM postgres:17")
    steps.take("#7 [app 3/6] COPY lib lib")
    steps.take("#7 sha256:ab 10.5MB / 42MB 0.3s")
    steps.take("#9 ERROR: no space left on device")
    assert told[:2] == [
        "[#####...............] building images, db: FROM postgres:17",
        "[########............] building images, app: COPY lib lib",
    ]
    assert steps.complaint == "ERROR: no space left on device"


def test_the_container_starts_the_jvm_with_the_flags_of_the_table():
    script = (ROOT / "labs/apps/docker/start").read_text(encoding="utf-8")
    assigned = " ".join(re.findall(r'flags="(.*)"', script))
    written = {word for word in assigned.split() if word not in ("$flags", "$FLAGS")}
    wanted = set(apps.jvm_flags(apps.WEBFLUX, {"blockhound": True})) - {"-XX:ActiveProcessorCount=2", "-Xmx384m"}
    assert wanted <= written
    assert written - wanted == {"-Xmx${HEAP_MB}m", "$processors", "-XX:AOTCache=$cache"}


@pytest.mark.parametrize(
    ("options", "cache"),
    [
        ("", "app.aot"),
        ("-Xmx1g -XX:+UseSerialGC", "app.aot"),
        ("-Xmx1g -Dspring.profiles.active=trains", "trains.aot"),
        ("-Dspring.profiles.active=trains -Dspring.jpa.open-in-view=true", "trains.aot"),
        ("-Dspring.profiles.active=other", None),
    ],
)
def test_the_container_takes_the_cache_of_its_profile(tmp_path, options, cache):
    script = (ROOT / "labs/apps/docker/start").read_text(encoding="utf-8").replace("/tmp/", f"{tmp_path}/")
    java = tmp_path / "java"
    java.write_text('#!/bin/sh\necho "$@"\n')
    java.chmod(0o755)
    for name in ("app.aot", "trains.aot"):
        (tmp_path / name).touch()
    variables = {"PATH": f"{tmp_path}:/usr/bin:/bin", "HEAP_MB": "64", "FLAGS": "", "JAVA_OPTS": options}
    told = subprocess.run(
        ["sh", "-c", script.replace("cd /app", f"cd {tmp_path}")],
        env=variables,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert re.findall(r"-XX:AOTCache=(\S+)", told) == ([cache] if cache else [])
    assert told.count("UseSerialGC") == 1 and told.strip().endswith("-jar app.jar")


@pytest.mark.parametrize("spec", apps.APPS.values(), ids=apps.APPS)
def test_compose_builds_every_app_with_its_heap_and_flags(spec):
    text = (ROOT / "compose.yaml").read_text(encoding="utf-8")
    part = next(block for block in re.split(r"\n\n  ", text) if f"APP: {spec.module or spec.name}\n" in block)
    heap = re.search(r"HEAP_MB: (\d+)", part)
    assert int(heap[1] if heap else 384) == spec.heap_mb
    limit = re.search(r"mem_limit: (\d+)m", part)
    assert int(limit[1] if limit else 768) >= spec.heap_mb + 256
    assert all(flag in part for flag in spec.flags)
    assert all(f"      {s.env}: " in part for s in spec.settings if s.env)


def test_every_app_has_a_container():
    assert set(SERVICES) == set(apps.APPS)


def test_both_databases_have_the_same_settings():
    text = (ROOT / "labs/db/postgresql.conf").read_text(encoding="utf-8")
    lines = [line.split(" = ") for line in text.splitlines() if line and not line.startswith("#")]
    written = {name: value.strip("'") for name, value in lines}
    of_the_place = {"listen_addresses", "port"}
    assert {k: v for k, v in written.items() if k not in of_the_place} == {
        k: v for k, v in SETTINGS.items() if k not in of_the_place
    }


def test_compose_publishes_on_the_loopback_alone():
    text = (ROOT / "compose.yaml").read_text(encoding="utf-8")
    ports = re.findall(r'ports: \["(.*)"\]', text)
    assert ports and all(port.startswith("127.0.0.1::") for each in ports for port in each.split('", "'))
    assert "docker.sock" not in text and "privileged" not in text


def test_every_image_of_compose_can_be_replaced():
    text = (ROOT / "compose.yaml").read_text(encoding="utf-8")
    images = re.findall(r"image: \$\{(\w+):-([^}]+)\}", text)
    assert {name for name, _ in images} == set(docker_images.PARTS)
    assert all(":" in image and not image.endswith(":latest") for _, image in images)
    bases = dict(re.findall(r"(\w+_IMAGE): \"?\$\{\w+:-([^}]+)\}", text))
    assert bases == docker_images.OFFICIAL
