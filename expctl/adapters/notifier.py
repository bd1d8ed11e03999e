"""Run the command of `--notify` for each outcome, with JSON on its standard input. If it fails, a line is printed, no more."""

import json
import os
import time
from pathlib import Path

from expctl.adapters.child.contained_process import MARK, Child, Gone, Launch, TimedOut, Unkillable, log_tail
from expctl.adapters.codec.decode import encode
from expctl.files import atomic_write

TIMEOUT_S = 10.0


class Notifier:
    """Runs the user's command `argv` with the environment that this process has now: what is added later, such as the secret of
    a fleet, is not the command's. Its input (outcome.json) and log are written to `folder`.
    """

    def __init__(self, argv: tuple[str, ...], folder: Path, *, mark: str, timeout_s: float = TIMEOUT_S) -> None:
        self._argv, self._folder, self._timeout_s = argv, folder, timeout_s
        self._environment = {**os.environ, MARK: mark}

    def tell(self, outcome: object) -> str:
        """Run the command, with `outcome` as JSON on standard input, for at most `timeout_s`. Return what went wrong, or ""."""
        log, input_ = self._folder / "log", self._folder / "outcome.json"
        atomic_write.replace(input_, json.dumps(encode(outcome), ensure_ascii=True).encode() + b"\n")
        log.unlink(missing_ok=True)
        launch = Launch(argv=self._argv, cwd=Path.cwd(), environment=self._environment, log=log, input=input_)
        try:
            with Child(launch) as child:
                status = child.wait(time.monotonic() + self._timeout_s)
        except TimedOut:
            return f"{self._argv[0]} did not end within {self._timeout_s:g} s{log_tail(log)}"
        except (Gone, Unkillable) as error:
            return f"{self._argv[0]} {error}"
        except OSError as error:
            return f"cannot start {self._argv[0]}: {error.strerror}"
        return f"{self._argv[0]} {child.fate()}{log_tail(log)}" if status else ""
