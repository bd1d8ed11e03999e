"""Checks which files a patch may change. It looks at the tree of files that the patch produces, not at the patch's text."""

import base64
import re
import unicodedata
import zlib
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import PurePosixPath

from expctl.domain.patch.changed_file import ChangedFile
from expctl.domain.patch.unified_diff import PATCH_BYTES_MAX
from expctl.domain.protocol.model import PatchLimits, inside

REGULAR, FOLDER, DELETED = "100644", "040000", "000000"
NAME_BYTES_MAX, PATH_BYTES_MAX = 255, 1_000  # no file system here takes longer names; the path goes on below our check-outs

# Names that affect the build, or that test runners and Python read by themselves. All in lower case.
JUDGES = (
    *("conftest.py", "test_*", "*_test.*", "*.test.*", "pytest.ini", "tox.ini", "setup.cfg", "pyproject.toml", "noxfile.py"),
    *("sitecustomize.py", "usercustomize.py", "*.pth", "*.pyc", "*.pyo"),
    *("protocol.yaml", "ledger.md", "experiment.yaml", "record.json"),
)
PYTHONS = "__pycache__"  # what lies in a folder of this name is run instead of the source beside it
BUILDS = (
    *("makefile*", "gnumakefile", "*.mk", "cmakelists.txt", "cmakepresets.json", "*.cmake", "meson.build", "meson_options.txt"),
    *("build.zig*", "build.rs", "cargo.toml", "*.bazel", "*.bzl", "build", "workspace", "sconstruct", "sconscript"),
    *("setup.py", "requirements*.txt", "package.json", "configure", "*.ninja", "*.rsp", "dockerfile*", "justfile"),
)
UNFIT = re.compile(r"[\\:*?\"<>|]|^[-~ ]|[ .]$|~\d")
"""Characters that other systems, shells or globs interpret; a leading dash is an option to every tool."""
DEVICE = re.compile(r"(con|prn|aux|nul|conin\$|conout\$|clock\$|(com|lpt)[0-9\u00b9\u00b2\u00b3])\s*(\..*)?", re.IGNORECASE)
"""Device names of Windows, with any suffix."""
GIT_BINARY = re.compile(rb"^(literal|delta) (\d{1,18})\n((?:[A-Za-z][^\n]*\n)*)", re.MULTILINE)


def patch_faults(patch: bytes, limits: PatchLimits) -> list[str]:
    """Return why `patch` must not be given to git: it has parts so large that they could exhaust memory. Empty if it may."""
    if len(patch) > PATCH_BYTES_MAX:
        return [f"the patch has {len(patch)} bytes, expected at most {PATCH_BYTES_MAX}"]
    if b"GIT binary patch\n" not in patch:
        return []
    sizes = [size for each in GIT_BINARY.finditer(patch) for size in _sizes(each[1], int(each[2]), each[3])]
    return [
        f"a binary file in the patch has {size} bytes, expected at most {limits.bytes}" for size in sizes if size > limits.bytes
    ]


def tree_faults(
    files: Sequence[ChangedFile],
    scope: tuple[str, ...],
    limits: PatchLimits,
    names: Sequence[str] = (),
    tables: tuple[str, ...] = (),
) -> list[str]:
    """Return one sentence for each fault of a patch that changes `files`; empty if it is allowed. `scope` are the folders that
    it may touch, but for `tables`, the folders that `expctl tune` writes; `names` are the paths of all files in `scope` after
    the patch.
    """
    if not files:
        return ["the patch changes nothing"]
    found = [fault for file in files for fault in _file_faults(file, scope)]
    known = {file.path for file in files}
    found += [
        f"{file.path} is a table of configs: both sides are measured with the baseline's, so this would land unmeasured; leave "
        "it out, and run expctl tune afterwards"
        for file in files
        if inside(file.path, tables)
    ]
    found += [
        f"{path} differs from {other} only in case, accents or character width, which some file systems ignore"
        for path, other in _alike(names, known)
    ]
    if len(files) > limits.files:
        found.append(f"the patch changes {len(files)} files, expected at most {limits.files}")
    if sum(file.size for file in files) > limits.bytes:
        found.append(f"the changed files have {sum(file.size for file in files)} bytes, expected at most {limits.bytes}")
    return found


def _file_faults(file: ChangedFile, scope: tuple[str, ...]) -> Iterator[str]:
    """Yield why `file` must not be changed, at most one reason. A path that `scope` itself lists may have any name."""
    below = _below(file.path, scope)
    name = below[-1].casefold() if below else ""
    if not inside(file.path, scope):
        yield f"{file.path} is outside the scope (the folders that a patch may touch)"
    elif file.mode not in (REGULAR, DELETED):
        yield f"{file.path} has mode {file.mode}, expected a regular file ({REGULAR})"
    elif len(_bytes(file.path)) > PATH_BYTES_MAX:
        yield f"{file.path[:60]!r}... is a path of {len(_bytes(file.path))} bytes, expected at most {PATH_BYTES_MAX}"
    elif long := next((part for part in file.path.split("/") if len(_bytes(part)) > NAME_BYTES_MAX), ""):
        yield f"{long[:60]!r}... is a name of {len(_bytes(long))} bytes, expected at most {NAME_BYTES_MAX}"
    elif has_unfit_name(file.path, scope):
        yield f"{file.path!r} has characters that shells or other systems interpret: use letters, digits and ._-"
    elif any(fnmatchcase(name, pattern) for pattern in JUDGES) or any(part.casefold() == PYTHONS for part in below):
        yield f"{file.path} has a name that Python, test runners or expctl read by themselves: use another name"
    elif any(fnmatchcase(name, pattern) for pattern in BUILDS):
        yield f"{file.path} has the name of a build file, which a patch may not change: use another name"


def has_unfit_name(path: str, scope: tuple[str, ...]) -> bool:
    """Has `path`, inside `scope`, characters below it that shells or other systems interpret?"""
    return not path.isprintable() or any(_unfit(part) for part in _below(path, scope))


def _unfit(part: str) -> bool:
    return part.startswith(".") or UNFIT.search(part) is not None or DEVICE.fullmatch(part) is not None


def _bytes(name: str) -> bytes:
    return name.encode(errors="surrogateescape")


def _below(path: str, scope: tuple[str, ...]) -> list[str]:
    """Return the parts of `path` below the longest folder of `scope` that contains it; all parts if none does. Empty if `path`
    itself is in `scope`.
    """
    fitting = max((folder.rstrip("/") for folder in scope if inside(path, (folder,))), key=len, default="")
    return path[len(fitting) :].strip("/").split("/") if path != fitting else []


def _alike(names: Sequence[str], changed: set[str]) -> Iterator[tuple[str, str]]:
    """Yield pairs of a changed path (or its folder) and another path that differ only in case, accents or character width. Some
    file systems can't tell such paths apart.
    """
    spellings: dict[str, set[str]] = {}
    for name in {str(each) for path in names for each in (PurePosixPath(path), *PurePosixPath(path).parents)}:
        spellings.setdefault(_folded(name), set()).add(name)
    for path in sorted(changed):
        for name in (path, *(str(each) for each in PurePosixPath(path).parents)):
            others = spellings.get(_folded(name), set()) - {name}
            if others and name in spellings[_folded(name)]:
                yield name, min(others)
                break


def _folded(path: str) -> str:
    """Return `path` without differences of case, Unicode form and character width, which some file systems ignore."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", path).casefold())


def _sizes(kind: bytes, size: int, lines: bytes) -> Iterator[int]:
    """Yield the `size` of one binary part of a patch, in bytes; for a delta then also the size of the file that it produces.
    The latter is encoded in the first of the part's `lines`. `kind` is `literal` or `delta`.
    """
    yield size
    if kind == b"literal":
        return
    try:
        start = zlib.decompressobj().decompress(base64.b85decode(lines.split(b"\n", 1)[0][1:]), 32)
    except (ValueError, zlib.error):
        return  # git refuses it
    numbers, shift, value = [], 0, 0
    for byte in start:
        value |= (byte & 0x7F) << shift
        shift += 7
        if not byte & 0x80:
            numbers.append(value)
            shift = value = 0
    yield from numbers[1:2]
