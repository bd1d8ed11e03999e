"""Write picture files for the option --plot."""

from collections.abc import Callable
from pathlib import Path

SUFFIXES = ("png", "svg")


def picture_format(file: Path, hint: str) -> str:
    """Return `png` or `svg`, by the suffix of `file`. Raises Misused, with the advice `hint`, for any other suffix."""
    from expctl.domain.errors import Misused

    suffix = file.suffix.lower().removeprefix(".")
    if suffix not in SUFFIXES:
        raise Misused(
            "pictures are only written as .png or .svg",
            code="not-a-picture-file",
            expected="a file name that ends in .png or .svg",
            found=str(file),
            hint=hint,
        )
    return suffix


def write_picture(file: Path, draw: Callable[[], bytes], *, otherwise: str = "") -> None:
    """Write the bytes that `draw` returns to `file`. Raises Refused if matplotlib is not installed (its hint then includes the
    advice `otherwise`) or `file` can't be written.
    """
    from expctl.cli.output import write_file
    from expctl.domain.errors import Refused

    try:
        contents = draw()
    except ModuleNotFoundError as error:
        raise Refused(
            "matplotlib draws picture files, and it is not installed",
            code="matplotlib-not-installed",
            expected="the extra `plot` of expctl",
            found=f"no module {error.name}",
            hint=f"pip install 'expctl[plot]' (in its repository: pip install -c constraints.txt -e '.[plot]'){otherwise}",
        ) from error
    write_file(file, contents)
