"""Add `diff --git` lines to patches of `diff -u`, which have none: without them git's patch id sees no change."""

import re
from collections.abc import Iterator

HUNK = re.compile(rb"^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")
GIT = b"diff --git "
NOWHERE = b"/dev/null"


def with_headers(patch: bytes) -> bytes:
    """Return `patch` with a `diff --git` line before each file; unchanged if it has such lines already."""
    return patch if patch.startswith(GIT) or b"\n" + GIT in patch else b"".join(_headed(patch.splitlines(keepends=True)))


def _headed(lines: list[bytes]) -> Iterator[bytes]:
    removed = added = 0  # lines left in the hunk: a `--- ` in its body is no header
    for line, following in zip(lines, [*lines, b""][1:], strict=True):
        hunk = HUNK.match(line)
        if removed <= 0 and added <= 0 and line.startswith(b"--- ") and following.startswith(b"+++ "):
            old, new = _name(line), _name(following)
            yield GIT + b"a/" + (new if old == NOWHERE else old) + b" b/" + (old if new == NOWHERE else new) + b"\n"
        elif hunk:
            removed, added = (int(count) if count is not None else 1 for count in hunk.groups())
        else:
            removed -= line[:1] in (b"-", b" ", b"\n")
            added -= line[:1] in (b"+", b" ", b"\n")
        yield line


def _name(line: bytes) -> bytes:
    path = line[4:].split(b"\t")[0].rstrip(b"\r\n")
    return path[2:] if path[:2] in (b"a/", b"b/") else path
