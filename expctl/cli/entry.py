"""The first module of the command: nothing is imported before Ctrl-C has words."""

import signal
import sys
from types import FrameType


def main() -> None:
    """Load the command line and run it. However often and whenever Ctrl-C comes, it ends by itself, with its own status."""
    signal.signal(signal.SIGINT, _interrupt)
    try:
        try:
            from expctl.cli.app import main as run

            run()
        finally:
            # How it ends is settled. The interpreter leaves what is ignored ignored, to its very end.
            signal.signal(signal.SIGINT, signal.SIG_IGN)
    except KeyboardInterrupt:  # from outside of the error boundary: while that loads, or after it
        print("\nInterrupted", file=sys.stderr)
        sys.exit(130)


def _interrupt(number: int, frame: FrameType | None) -> None:  # noqa: ARG001  the signature of a handler
    """One interrupt is enough: a second one would meet the words for the first, or what ends what was begun."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    raise KeyboardInterrupt
