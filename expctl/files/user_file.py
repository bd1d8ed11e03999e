"""Reads files that the user names on the command line."""

import sys
from contextlib import nullcontext
from pathlib import Path

from expctl.domain.errors import Refused
from expctl.domain.text import plain_text
from expctl.files.regular_file import facts_of

KERNEL_BYTES_MAX = 1 << 28
STANDARD_INPUT = "-"


def contents(path: Path, what: str, *, bytes_max: int) -> bytes:
    """Return the bytes of a file or pipe, or of standard input if `path` is `-`. Raises Refused if it can't be read or has over
    `bytes_max` bytes; `what` names it there.
    """
    try:
        with nullcontext(sys.stdin.buffer) if str(path) == STANDARD_INPUT else open(path, "rb") as file:
            found = file.read(bytes_max + 1)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        reason = error.strerror if isinstance(error, OSError) else None
        raise Refused(
            f"cannot read {what}",
            code="file-not-readable",
            expected="a file that can be read",
            found=reason or str(error),
            where=str(path),
            hint="check the path; relative ones start at the working directory",
        ) from error
    if len(found) > bytes_max:
        raise Refused(
            f"{what} is too large",
            code="file-too-large",
            expected=f"at most {bytes_max} bytes",
            found=f"more than {bytes_max} bytes",
            where=str(path),
            hint="check the path: is it the file that you mean?",
        )
    return found


def kernel_bytes(path: Path) -> bytes:
    """Return the bytes of a kernel's source, assembly or code object: a regular file of at most 256 MiB. Raises Refused."""
    name = plain_text(str(path))
    try:
        about = facts_of(
            path,
            name=name,
            expected="a source, assembly or code object",
            hint="give a file, or save the contents to one",
        )
        with path.open("rb") as file:  # st_size may be smaller than the contents (/proc)
            data = file.read(KERNEL_BYTES_MAX + 1)
    except FileNotFoundError as error:
        raise Refused(
            f"there is no file {name}",
            code="file-missing",
            expected="a source, assembly or code object",
            found="nothing",
            where=plain_text(str(path.parent)),
            hint="check the path; relative ones start at the working directory",
        ) from error
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        raise Refused(
            f"cannot read {name}",
            code="file-not-readable",
            expected="a file that can be read",
            found=getattr(error, "strerror", None) or str(error),
            where=name,
            hint="correct its permissions or links, or give another file",
        ) from error
    if not data:
        raise Refused(
            f"{name} is empty",
            code="file-empty",
            expected="a source, assembly or code object",
            found="0 bytes",
            where=name,
            hint="build or save the file first, then run again",
        )
    if len(data) > KERNEL_BYTES_MAX:
        raise Refused(
            f"{name} is too large",
            code="file-too-large",
            expected=f"at most {KERNEL_BYTES_MAX} bytes",
            found=f"{max(about.st_size, len(data))} bytes",
            where=name,
            hint="give the code object of one GPU, without debug information",
        )
    return data
