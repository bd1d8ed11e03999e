"""A file that the user names on the command line, from anywhere."""

from pathlib import Path

from expctl.domain.errors import Refused


def contents(path: Path, what: str, *, bytes_max: int) -> bytes:
    """The bytes of `path`, a file or a pipe. Raises Refused when it can't be read or is larger than `bytes_max`."""
    try:
        with open(path, "rb") as file:
            found = file.read(bytes_max + 1)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        reason = error.strerror if isinstance(error, OSError) else None
        raise Refused(
            f"cannot read {what}",
            expected="a file",
            found=reason or str(error),
            where=str(path),
            hint="check the path; relative ones start at the working directory",
        ) from error
    if len(found) > bytes_max:
        raise Refused(
            f"{what} is too large",
            expected=f"at most {bytes_max} bytes",
            found="more",
            where=str(path),
            hint="check the path: is it the file that you mean?",
        )
    return found
