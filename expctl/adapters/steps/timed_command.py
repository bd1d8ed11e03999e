"""Run a benchmark of a suite in its environment, as a confined child, while other work on the machine is watched for."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path

from expctl.adapters.child.arguments import child_environment, fill, shared_folders
from expctl.adapters.child.contained_process import Child, ChildLimits, Gone, Launch, TimedOut, Unkillable, log_tail
from expctl.adapters.child.interpreter import python_of
from expctl.adapters.machine.interference_watch import Watch
from expctl.adapters.steps.rounds import LAUNCHES_MOST, not_quiet
from expctl.domain.machine.os_errors import is_trouble
from expctl.domain.protocol.model import Environment
from expctl.domain.run.step_result import Failed
from expctl.launcher.removal import remove_tree

END_WAIT_S = 10.0


class TimedCommand:
    """Runs commands in `cwd` with the variables of one environment, whose interpreter is found. HOME and temporary files lie
    below `scratch` and are kept from one command to the next, so that what is compiled once is found again.
    """

    def __init__(
        self,
        environment: Environment,
        *,
        cwd: Path,
        scratch: Path,
        mark: str,
        watch: Watch,
        tick: Callable[[], None] = lambda: None,
    ) -> None:
        self._environment, self._cwd, self._scratch, self._mark = environment, cwd, scratch, mark
        self._watch, self._tick = watch, tick

    def run(self, argv: Sequence[str], *, out: Path, times: str, timeout_s: float) -> Failed | None:
        """Run a command to its end; Failed if it can't be started, fails, or takes over `timeout_s`. It finds the folder `out`
        empty; `{times}` is its file `times`. What other work disturbed is run again; raises Busy if that goes on.
        """
        taints: tuple[str, ...] = ()
        for _ in range(LAUNCHES_MOST):
            self._watch.clear()
            remove_tree(out)
            out.mkdir(parents=True)
            try:
                failed = self._once(argv, out, times, timeout_s)
            except Unkillable as error:
                return Failed(reason=f"a process of it {error}", fault=True)
            finally:
                taints = self._watch.take_taints()
            if not taints:  # with taints, foreign work may have caused the failure too
                return failed
        raise not_quiet(taints)

    def _once(self, argv: Sequence[str], out: Path, times: str, timeout_s: float) -> Failed | None:
        words = {"{python}": python_of(self._environment), "{out}": str(out), "{times}": str(out / times)}
        log = self._scratch / "suite.log"
        log.unlink(missing_ok=True)
        launch = Launch(
            argv=fill(argv, words),
            cwd=self._cwd,
            environment=child_environment(self._environment, self._scratch, self._mark),
            log=log,
            limits=ChildLimits(scratch=(self._scratch, out), shared=shared_folders(self._environment), counters=True),
        )
        try:
            child = Child(launch, on_look=self._tick)
        except OSError as error:
            if is_trouble(error):
                raise
            return Failed(reason=f"cannot start {argv[0]}: {error.strerror}", fault=True)
        try:
            with child, self._watch.watching("baseline"):
                child.close_input()
                deadline_s = time.monotonic() + timeout_s
                for _ in child.lines(deadline_s):
                    pass  # a script that also serves a run may report there; nothing is asked
                status = child.wait(max(deadline_s, time.monotonic() + END_WAIT_S))
        except TimedOut:
            return Failed(reason=f"did not end within {timeout_s:g} s{log_tail(log)}", fault=True)
        except Gone as gone:
            return Failed(reason=f"{gone}{log_tail(log)}", fault=True)
        return Failed(reason=f"{child.fate()}{log_tail(log)}", fault=True) if status else None
