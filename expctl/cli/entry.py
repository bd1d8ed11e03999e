"""The first module of the command: nothing is imported before Ctrl-C has words."""

import sys


def main() -> None:
    """Load the command line and run it. Ctrl-C while that loads is no traceback."""
    try:
        from expctl.cli.app import main as run

        run()
    except KeyboardInterrupt:
        print("\nInterrupted", file=sys.stderr)
        sys.exit(130)
