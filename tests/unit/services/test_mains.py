"""Mains of the plain JVM: lines in, objects out; Stop ends them, a failure is told. Here a Python plays the JVM."""

import subprocess
import sys
import threading

import psutil
import pytest
from waitlab.errors import BuildError, MainEnded, ServiceDied
from waitlab.services import apps, docker_lab, mains

PRINTS = "import json\nfor n in range(3): print(json.dumps({'n': n}), flush=True)\nprint('by the way')\nprint([1])"
WAITS = "import os, time\nprint('{\"pid\": %d}' % os.getpid(), flush=True)\ntime.sleep(60)"


def run(program, **more):
    return mains.run([sys.executable, "-c", program], name="fake", **more)


def test_the_objects_come_in_order_and_as_they_are_printed():
    told = []
    assert run(PRINTS, told=told.append) == [{"n": 0}, {"n": 1}, {"n": 2}] == told


def test_a_failure_is_a_sentence_with_the_last_words():
    with pytest.raises(ServiceDied, match="fake on the plain JVM failed") as death:
        run("import sys\nprint('{\"n\": 1}')\nsys.exit('loops must be a whole number')")
    assert "loops must be a whole number" in death.value.text
    assert "Try: " in death.value.text


def test_stop_ends_the_child():
    stop, told = threading.Event(), []

    def seen(line):
        told.append(line)
        stop.set()

    with pytest.raises(KeyboardInterrupt):
        run(WAITS, stop=stop, told=seen)
    assert not psutil.pid_exists(told[0]["pid"])


def test_an_interrupt_ends_the_child_too():
    told = []

    def interrupted(line):
        told.append(line)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(WAITS, told=interrupted)
    assert not psutil.pid_exists(told[0]["pid"])


def test_options_become_pairs():
    assert mains.arguments("loops", {"loops": 8, "where": "none"}) == ["loops", "--loops", "8", "--where", "none"]


def test_the_command_takes_the_cache_where_there_is_one(tmp_path, monkeypatch):
    folder = tmp_path / "jvm" / "target" / "app"
    folder.mkdir(parents=True)
    monkeypatch.setattr(apps.paths, "APPS", tmp_path)
    monkeypatch.setattr(mains.java, "runtime_java", lambda: "java")
    with pytest.raises(BuildError, match="not built yet"):
        mains.command("loops", {})
    (folder / "app.jar").touch()
    assert "-XX:AOTCache=app.aot" not in mains.command("loops", {})
    (folder / "app.aot").touch()
    command = mains.command("loops", {"seed": 3}, heap_mb=512)
    assert command[:2] == ["java", "-Xmx512m"] and "-XX:AOTCache=app.aot" in command
    assert command[-5:] == ["-jar", "app.jar", "loops", "--seed", "3"]


def test_a_main_that_ran_out_of_memory_is_told_apart_from_one_that_failed():
    said = "Terminating due to java.lang.OutOfMemoryError: Java heap space"
    code = f"import sys; print('{{\"a\": 1}}'); print('{said}'); sys.exit(3)"
    with pytest.raises(MainEnded) as end:
        run(code)
    assert (end.value.how, end.value.lines) == ("out_of_memory", [{"a": 1}])
    with pytest.raises(ServiceDied, match="failed") as failure:
        run("import sys; print('oh'); sys.exit(3)")
    assert not isinstance(failure.value, MainEnded)


def test_a_main_that_takes_too_long_is_ended_even_if_it_will_not_listen():
    code = (
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('{}', flush=True); time.sleep(600)"
    )
    with pytest.raises(MainEnded) as end:
        run(code, wall_s=3.0)
    assert (end.value.how, end.value.lines) == ("wall_limit", [{}])


def test_who_is_far_away_learns_of_the_end_by_its_stdin():
    code = "import sys; print('{}', flush=True); sys.stdin.read(); print('{\"over\": true}', flush=True)"
    assert run(code) == [{}, {"over": True}]
    with pytest.raises(MainEnded) as end:
        run(code, wall_s=3.0, held=True)
    assert end.value.lines[0] == {}


def in_a_container(*command):
    """The shell around a main in a container, whose stdin the owner holds; its output."""
    argv = ["sh", "-c", docker_lab.ENDS_WITH_US, "sh", *command]
    return subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)


def test_in_a_container_a_main_tells_its_exit_code():
    with in_a_container("sh", "-c", "echo said; exit 3") as shell:
        assert shell.stdout.read() == "said\n"
        assert shell.wait(20) == 3


def test_in_a_container_a_main_ends_when_its_owner_lets_go():
    with in_a_container("sh", "-c", "trap '' TERM; echo $$; exec sleep 600") as shell:
        main = psutil.Process(int(shell.stdout.readline()))
        shell.stdin.close()
        assert shell.wait(20) == 128 + 9
        assert not main.is_running()
