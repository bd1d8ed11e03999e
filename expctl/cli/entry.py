"""Entry point of the command `expctl`; it handles Ctrl-C before anything else is imported."""

import _signal  # type: ignore[import-not-found]  # built in; `signal` takes 3 ms, in which Ctrl-C would show a traceback

_signal.signal(_signal.SIGINT, _signal.SIG_DFL)  # ends it without a word until `main`: the modules below take their time

import os  # noqa: E402
import resource  # noqa: E402
import signal  # noqa: E402
import sys  # noqa: E402
from types import FrameType  # noqa: E402

AGAIN_S = 0.01


def main() -> None:
    """Run the command line of expctl. Ctrl-C at any time, also repeated, ends it with status 130."""
    signal.signal(signal.SIGINT, _interrupt)
    signal.signal(signal.SIGALRM, _interrupt)
    # Where the parent ignores it, the system throws exit statuses away, and each would read 0.
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    # Where files may not grow, Python would store bytecode that is cut off, and every later command would fail on it.
    sys.dont_write_bytecode |= resource.getrlimit(resource.RLIMIT_FSIZE)[0] != resource.RLIM_INFINITY
    sys.unraisablehook = _interrupt_again
    _open_closed()
    try:
        try:
            from expctl.cli.app import main as run

            run()
        finally:
            # The exit status is decided: ignore further interrupts until the interpreter has ended.
            signal.signal(signal.SIGINT, signal.SIG_IGN)
    except KeyboardInterrupt:  # raised outside of `guard`, before or after the command
        print("\nInterrupted", file=sys.stderr)
        sys.exit(130)


def _open_closed() -> None:
    """Open /dev/null where a standard stream was closed: the next file would get its number, and what is printed there."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115  pathlib takes long to import; open for good


def _interrupt(number: int, frame: FrameType | None) -> None:  # noqa: ARG001  the signature of a handler
    """Raise KeyboardInterrupt at the first SIGINT, and ignore further ones, which would disturb the clean-up."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    raise KeyboardInterrupt


def _interrupt_again(unraisable: "sys.UnraisableHookArgs") -> None:
    """Raise again, in a moment, an interrupt that came where Python can only print it: in a finalizer or a callback."""
    if isinstance(unraisable.exc_value, KeyboardInterrupt):
        signal.setitimer(signal.ITIMER_REAL, AGAIN_S)
    else:
        sys.__unraisablehook__(unraisable)
