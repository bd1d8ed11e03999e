"""Turn every exception of a command into a message on standard error and an exit status."""

import sys
from collections.abc import Callable

from expctl.domain.errors import ExitStatus, Interrupted, Refused


def guard(command: Callable[[], object]) -> int:
    """Run `command`, print any exception to standard error (a bug with its traceback) and return the exit status."""
    try:
        command()
    except Refused as refusal:
        explain(refusal)
        return int(refusal.status)
    except (Interrupted, KeyboardInterrupt) as stop:
        print(file=sys.stderr)
        _say(f"Interrupted: {stop}" if str(stop) else "Interrupted")
        return int(ExitStatus.INTERRUPTED)
    except BrokenPipeError:
        sys.stderr.close()
        return int(ExitStatus.CONCLUDED)
    except (OSError, MemoryError) as error:
        import errno

        from expctl.domain.machine.os_errors import explained

        trouble = explained(error if isinstance(error, OSError) else OSError(errno.ENOMEM, "Cannot allocate memory"))
        if trouble is None:
            return _bug()
        explain(trouble)
        return int(trouble.status)
    except Exception:  # noqa: BLE001  the boundary: everything else is our fault
        return _bug()
    return int(ExitStatus.CONCLUDED)


def _bug() -> int:
    import traceback

    print("BUG: expctl failed; nothing it had committed is lost. Please report this:", file=sys.stderr)
    traceback.print_exc()
    return int(ExitStatus.BUG)


def explain(refusal: Refused) -> None:
    """Print a refusal to standard error: its code and message, what was expected and found, where, and what to do next."""
    from expctl.domain.text import one_line

    _say(f"Error [{refusal.code}]: {one_line(refusal.message, 2000)}")
    for label in ("expected", "found", "where"):
        text = getattr(refusal, label)
        for index, line in enumerate(text.splitlines()):
            _say(f"  {label if index == 0 else '':<9} {one_line(line, 2000)}")
    if refusal.hint:
        _say(f"  {'next':<9} {one_line(refusal.hint, 2000)}")


def _say(line: str) -> None:
    """Print a line to standard error; on a terminal it is folded to its width."""
    from expctl.cli.output import fitted

    print("\n".join(fitted(line)), file=sys.stderr)
