"""Checks names in protocol.yaml that become parts of paths, commit messages and environments."""

import re
from collections.abc import Iterable, Iterator

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,59}", re.ASCII)
SIZE_NAME = re.compile(r"[!-~]([ -~]{0,58}[!-~])?", re.ASCII)
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)


def name_faults(
    *, targets: Iterable[str], sizes: Iterable[str], variables: Iterable[str], writable: Iterable[str]
) -> Iterator[str]:
    """Yield one sentence for each unusable name in protocol.yaml, and for each path that must not be in `writable`."""
    for kind, names, form, like in (
        ("targets", targets, NAME, "letters, digits and ._+-, at most 60, with a letter or digit first"),
        ("benchmark.sizes", sizes, SIZE_NAME, "1 to 60 printable ASCII characters without spaces at the ends"),
        ("environment", variables, VARIABLE, "a name such as OMP_NUM_THREADS"),
    ):
        yield from (f"{kind}: expected {like}, found {name[:60]!r}" for name in names if not form.fullmatch(name))
    for path in writable:
        if not path.startswith("/") or not path.strip("/") or not {".", ".."}.isdisjoint(path.split("/")):
            yield f"environment.writable: expected an absolute path other than /, found {path[:60]!r}"
