"""The one error boundary: three kinds of end, each with its words and its exit status."""

import sys
from collections.abc import Callable

from expctl.domain.errors import ExitStatus, Interrupted, Refused


def guard(command: Callable[[], object]) -> int:
    """Run `command` and return the exit status. Refusals are explained, bugs leave a traceback."""
    try:
        command()
    except Refused as refusal:
        explain(refusal)
        return int(refusal.status)
    except (Interrupted, KeyboardInterrupt) as stop:
        print(f"\nInterrupted: {stop}" if str(stop) else "\nInterrupted", file=sys.stderr)
        return int(ExitStatus.INTERRUPTED)
    except BrokenPipeError:
        sys.stderr.close()
        return int(ExitStatus.CONCLUDED)
    except Exception as error:  # noqa: BLE001  the boundary: everything else is our fault
        import traceback

        from expctl.adapters.machine_trouble import explained, is_trouble

        if isinstance(error, OSError) and is_trouble(error):
            explain(explained(error))
            return int(ExitStatus.REFUSED)

        print("BUG: expctl failed; nothing it had committed is lost. Please report this:", file=sys.stderr)
        traceback.print_exc()
        return int(ExitStatus.BUG)
    return int(ExitStatus.CONCLUDED)


def explain(refusal: Refused) -> None:
    """Print what was expected, what was found, where, and what to type next."""
    print(f"Error: {_safe(refusal.message)}", file=sys.stderr)
    for label in ("expected", "found", "where"):
        text = getattr(refusal, label)
        for index, line in enumerate(text.splitlines()):
            print(f"  {label if index == 0 else '':<9} {_safe(line)}", file=sys.stderr)
    if refusal.hint:
        print(f"  {'next':<9} {_safe(refusal.hint)}", file=sys.stderr)


def _safe(text: str) -> str:
    from expctl.domain.text import one_line

    return one_line(text, 2000)
