"""Reads whole files that lie at a place of their own in a repository: regular ones, of no absurd size."""

from pathlib import Path

from expctl.domain.errors import Refused
from expctl.files.permission import permission_mend
from expctl.files.regular_file import facts_of

BYTES_MAX = 64 << 20


def contents(path: Path, *, name: str) -> bytes:
    """Return the bytes of the file at `path`, called `name` in what is said. A pipe, which could keep a reader waiting, is not
    opened. Raises FileNotFoundError, and Refused for what is no regular file, has over 64 MiB or can't be read.
    """
    aside = f"mv {name} {name}.old && git checkout -- {name} brings back the committed one"
    try:
        about = facts_of(path, name=name, expected="a text file", hint=aside)
        if about.st_size > BYTES_MAX:
            raise Refused(
                f"{name} is too large",
                code="file-too-large",
                expected=f"at most {BYTES_MAX} bytes",
                found=f"{about.st_size} bytes",
                where=name,
                hint=aside,
            )
        return path.read_bytes()
    except FileNotFoundError:
        raise
    except OSError as error:
        raise Refused(
            f"cannot read {name}",
            code="file-not-readable",
            expected="a file that can be read",
            found=error.strerror or str(error),
            where=name,
            hint=permission_mend(path, "r") if isinstance(error, PermissionError) else aside,
        ) from error
