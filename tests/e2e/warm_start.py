"""`expctl` without its start-up, a third of a second: a process that has imported everything forks one for each command.

What starts, is killed or is timed cold is `Foreign.start` and `Foreign.cold`; with `--long` everything is.
"""

import atexit
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

# What an interpreter reads once, when it starts: a command that wants other values has to start one.
READ_AT_START = ("LANG", "LC_", "PYTHON", "LD_", "TZ")


class Warm:
    """The process that forks."""

    def __init__(self) -> None:
        self._environment = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
        self._process = subprocess.Popen(
            [sys.executable, "-P", __file__],
            env=self._environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            process_group=0,
        )
        self._turn = threading.Lock()
        atexit.register(self._end)

    def takes(self, environment: Mapping[str, str]) -> bool:
        """Whether a command with this environment can be forked."""
        return _at_start(environment) == _at_start(self._environment)

    def run(self, argv: Sequence[str], cwd: Path, environment: Mapping[str, str]) -> tuple[int, str, str]:
        """Exit status (negative: by that signal), standard output and standard error of one command."""
        with self._turn, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            files = [f"/proc/{os.getpid()}/fd/{file.fileno()}" for file in (out, err)]
            try:
                assert self._process.stdin is not None
                assert self._process.stdout is not None
                print(json.dumps([*files, str(cwd), dict(environment), *argv]), file=self._process.stdin, flush=True)
                status = int(self._process.stdout.readline())
            except BaseException:  # a test's time is over: the next one gets another
                warm.cache_clear()
                os.killpg(self._process.pid, signal.SIGKILL)
                raise
            out.seek(0)
            err.seek(0)
            return os.waitstatus_to_exitcode(status), out.read().decode(), err.read().decode()

    def _end(self) -> None:
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            pipe.close()
        self._process.wait()


@cache
def warm() -> Warm:
    """The one of this session."""
    return Warm()


def _at_start(environment: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if name.startswith(READ_AT_START)}


# ------------------------------------------------------------------ the process that forks


def _serve() -> None:
    """A command a line, until standard input ends. Writes the status that wait(2) gave for each."""
    _import_everything()
    for line in sys.stdin:
        out, err, cwd, environment, *argv = json.loads(line)
        child = os.fork()
        if child == 0:
            _become(out, err, cwd, environment, argv)
        print(os.waitpid(child, 0)[1], flush=True)


def _import_everything() -> None:
    """All that a command may import but numpy, whose threads don't survive a fork."""
    import gc
    import pkgutil
    from importlib import import_module

    import expctl.cli.app

    for module in pkgutil.walk_packages(expctl.__path__, "expctl."):
        if not module.name.startswith(("expctl.check", "expctl.explain", "expctl.gfx11", "expctl.harness")):
            import_module(module.name)
    import_module("git")
    assert len(os.listdir("/proc/self/task")) == 1, "threads don't survive a fork"
    gc.freeze()


def _become(out: str, err: str, cwd: str, environment: dict[str, str], argv: list[str]) -> None:
    status = 70
    try:
        for path, number in ((os.devnull, 0), (out, 1), (err, 2)):
            file = os.open(path, os.O_RDWR)
            os.dup2(file, number)
            os.close(file)
        os.chdir(cwd)
        os.environ.clear()
        os.environ.update(environment)
        sys.argv = argv
        from expctl.cli.app import main

        main()
    except SystemExit as end:
        status = int(end.code or 0)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


if __name__ == "__main__":
    _serve()
