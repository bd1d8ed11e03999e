"""Forks runners of expctl from a process that has imported it, so that a trial costs its work and not the start of Python.

Started with the shim preloaded; speaks JSON lines. A runner is a session leader of its own, like one from a terminal.
"""

import ctypes
import gc
import importlib
import json
import os
import signal
import sys
import time
from typing import Any

PRELOADED = (
    *(
        "expctl.cli.app",
        "expctl.cli.run_report",
        "expctl.cli.doctor",
        "expctl.wiring",
        "expctl.flow.autopilot.run_all",
        "expctl.flow.run.experiment",
    ),
    *(
        "expctl.adapters.steps.builder",
        "expctl.adapters.git.workspace",
        "expctl.adapters.steps.runner",
        "expctl.adapters.machine.gate",
        "expctl.adapters.machine.interference_watch",
    ),
    *(
        "expctl.adapters.records.calibrations",
        "expctl.adapters.records.controls",
        "expctl.adapters.machine.signals",
        "expctl.views.console",
        "expctl.views.ledger.document",
    ),
    *("expctl.profiles.step_profiles", "expctl.targets.command", "expctl.targets.cpu", "expctl.targets.gfx1151"),
    *(
        "expctl.adapters.rules.lookup",
        "expctl.adapters.rules.probes",
        "expctl.adapters.journal",
        "expctl.adapters.machine.repository_lock",
    ),
    *("expctl.adapters.machine.clock", "expctl.adapters.machine.facts", "expctl.cli.output", "expctl.views.report", "yaml"),
    *("expctl.adapters.sensors.amd_smi", "expctl.adapters.sensors.gpus", "expctl.adapters.sensors.nvidia_smi"),
    *("expctl.adapters.sensors.cpu_clock", "expctl.adapters.sensors.cpu_load", "expctl.adapters.sensors.device_holders"),
    *("expctl.adapters.sensors.process_patterns", "expctl.adapters.sensors.suspend", "expctl.launcher.capabilities"),
    *("expctl.targets.rocm", "expctl.targets.sm_90", "psutil", "jinja2"),
    *("tests.faults.planted_defects", "tests.faults.planted_in_commands"),
    *("expctl.cli.new", "expctl.cli.queue", "expctl.cli.withdraw", "expctl.cli.finding", "expctl.cli.ledger"),
    *("expctl.cli.suite", "expctl.suite.measure", "expctl.cli.rivals", "expctl.cli.calibrate", "expctl.cli.import_ledger"),
)


def serve() -> None:
    """Answer requests until the input ends."""
    for name in PRELOADED:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()
    for line in sys.stdin:
        request = json.loads(line)
        answer = _start(request) if request["do"] == "start" else _wait(request)
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


def _start(request: dict[str, Any]) -> dict[str, Any]:
    pid = os.fork()
    if pid == 0:
        _become_runner(request)
    return {"pid": pid}


def _wait(request: dict[str, Any]) -> dict[str, Any]:
    """The exit status of a runner (negative: its signal) with its CPU time, `stopped`, or nothing within the time."""
    deadline = time.monotonic() + request["timeout_s"]
    while True:
        pid, status, used = os.wait4(request["pid"], os.WNOHANG | os.WUNTRACED)
        if pid and os.WIFSTOPPED(status):
            return {"stopped": True}
        if pid:
            return {"status": os.waitstatus_to_exitcode(status), "cpu_s": used.ru_utime + used.ru_stime}
        if time.monotonic() > deadline:
            return {}
        time.sleep(0.002)


def _become_runner(request: dict[str, Any]) -> None:
    """Never returns."""
    status = 70
    try:
        os.setsid()
        os.chdir(request["cwd"])
        os.environ.clear()
        os.environ.update(request["environment"])
        out = os.open(request["out"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        for descriptor in (1, 2):
            os.dup2(out, descriptor)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.closerange(3, 64)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        from expctl.cli.app import main

        if request["defect"]:
            from tests.faults.planted_defects import plant

            plant(request["defect"])
        sys.argv = ["expctl", *request["words"]]
        if request["plan"]:
            ctypes.CDLL(None).faults_arm(request["plan"].encode(), 1)
        main()
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:  # noqa: BLE001  whatever it is, a fork of the server must not go on as a server
        import traceback

        traceback.print_exc()
    finally:
        for stream in (sys.stdout, sys.stderr):
            if not stream.closed:
                stream.flush()
        os._exit(status)


if __name__ == "__main__":
    serve()
