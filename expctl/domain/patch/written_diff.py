"""Write what a file was before and after a change as git's unified diff."""

import difflib


def difference(path: str, before: bytes | None, after: bytes | None) -> bytes:
    """Return the patch that makes the text `after` of `before`; None: there is no such file."""
    names = ("/dev/null" if before is None else f"a/{path}", "/dev/null" if after is None else f"b/{path}")
    lines = difflib.unified_diff(_lines(before), _lines(after), *names)
    mode = "new file mode 100644\n" if before is None else "deleted file mode 100644\n" if after is None else ""
    ended = (line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)
    return "".join([f"diff --git a/{path} b/{path}\n{mode}", *ended]).encode(errors="surrogateescape")


def _lines(text: bytes | None) -> list[str]:
    """Return lines with their ends, by line feeds alone, as git counts them."""
    *lines, last = (text or b"").decode(errors="surrogateescape").split("\n")
    return [*(f"{line}\n" for line in lines), *([last] if last else [])]
