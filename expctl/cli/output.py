"""Write a command's result to standard output, as JSON or as lines of text."""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from expctl.domain.errors import Refused
from expctl.domain.text import is_unseen

ERROR_LABEL = 12  # columns before the text of `expected`, `found`, ...


def print_json(facts: object, *, schema: str) -> None:
    """Print `facts`, a data class or a dict, as a JSON object whose key `schema` is `expctl.` and the name and number of its
    form, such as `status/1` (docs/JSON.md lists them). Invisible characters are escaped, because a terminal may obey them.
    """
    import json

    from expctl.adapters.codec.decode import encode

    narrow = str(sys.stdout.encoding).lower() not in ("utf-8", "utf8")
    document = {"schema": "", **encode(facts)} | {"schema": f"expctl.{schema}"}
    text = json.dumps(document, indent=1, ensure_ascii=narrow)
    if not text.isascii():
        text = "".join(json.dumps(each)[1:-1] if is_unseen(each) and each != "\n" else each for each in text)
    print_text(text)


def print_lines(lines: Sequence[str], paint: Callable[[str], str] | None = None) -> None:
    """Print `lines` to standard output, wrapped to the width of the terminal. `paint` adds colours to each line that is
    printed; it is called only for a terminal that shows them, unless NO_COLOR is set.
    """
    if width := terminal_width():
        from expctl.domain.layout import wrapped

        lines = [part for line in lines for part in wrapped(line, width)]
    if paint is not None and _shows_colours():
        lines = [paint(line) for line in lines]
    print_text("\n".join(lines))


def _shows_colours() -> bool:
    from expctl.views.live_line import bears_live_line

    return bears_live_line(sys.stdout) and not os.environ.get("NO_COLOR")


def fitted(line: str, label: int = ERROR_LABEL) -> list[str]:
    """Return a line of an error, folded to its width if standard error is a terminal; `label` columns stand before its text."""
    if not sys.stderr.isatty():
        return [line]
    from shutil import get_terminal_size

    from expctl.views.fold import folded

    return folded(line, get_terminal_size().columns, label)


def terminal_width() -> int:
    """Return the columns of the terminal, or those that COLUMNS names; 0 if standard output is neither, so has no limit."""
    if not os.environ.get("COLUMNS") and not sys.stdout.isatty():
        return 0
    from shutil import get_terminal_size

    return get_terminal_size().columns


def print_result(facts: object, lines: Callable[[], Sequence[str]], as_json: bool, *, schema: str) -> None:
    """Print a command's result: `facts` as a JSON object of the form `schema` if `as_json`, else the text that `lines`
    returns.
    """
    if as_json:
        print_json(facts, schema=schema)
    else:
        print_lines(lines())


def print_text(text: str) -> None:
    """Print `text` and a line end to standard output, unchanged. Raises Refused if the output can't be written."""
    try:
        sys.stdout.write(text + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the interpreter flushes again on exit
        raise Refused(
            "cannot write standard output",
            code="output-not-writable",
            found=str(error.strerror),
            hint="free space on that disk, or send the output elsewhere",
        ) from error


@contextmanager
def after(done: str) -> Iterator[None]:
    """Print, within the block, what a command has done: if that fails, the error says that it is `done` all the same."""
    try:
        yield
    except Refused as refusal:
        if refusal.code == "output-not-writable":
            refusal.message = f"{done}, but standard output can't be written"
        raise


def write_file(file: Path, contents: bytes) -> None:
    """Write a file that the user named, atomically; a device or pipe of this name stays one. Raises Refused if it can't be
    written.
    """
    from expctl.files import atomic_write

    try:
        if file.exists() and not file.is_file():
            file.write_bytes(contents)
        else:
            atomic_write.replace_for_user(file, contents)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        raise _not_writable(file, str(getattr(error, "strerror", None) or error)) from error


def remove_file(file: Path) -> None:
    """Remove a file that the user named, if it is there. Raises Refused if it can't be removed."""
    try:
        file.unlink(missing_ok=True)
    except (OSError, ValueError) as error:
        raise _not_writable(file, str(getattr(error, "strerror", None) or error)) from error


def check_folder(file: Path) -> None:
    """Raise Refused unless a file that the user named would lie in a folder that exists, and is none itself."""
    if file.is_dir():
        raise _not_writable(file, "a folder")
    if not file.parent.is_dir():
        raise _not_writable(file, f"no folder {file.parent}")


def check_other_file(file: Path, *read: Path) -> None:
    """Raise Refused if a file that the user named for writing is one that the command reads."""
    if file.exists() and any(each.exists() and file.samefile(each) for each in read):
        raise _not_writable(file, "a file that this command reads")


def _not_writable(file: Path, found: str) -> Refused:
    return Refused(
        f"cannot write {file}",
        code="file-not-writable",
        expected="a path at which a file can be written",
        found=found,
        where=str(file),
        hint="name another file",
    )
