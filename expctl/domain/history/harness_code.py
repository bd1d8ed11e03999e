"""Hashes the code of a benchmark harness: comments, white space, line breaks and docstrings don't count."""

from __future__ import annotations

import ast
import hashlib
import warnings
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from expctl.domain.history.plain_code import c_words, shell_words
from expctl.domain.patch.source_items import C_SUFFIXES

PYTHON_SUFFIXES = (".py", ".pyi")
SHELL_SUFFIXES = (".sh", ".bash")
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
# Fields of syntax nodes that describe spelling, not meaning.
SPELLING = frozenset(("kind", "type_comment", "type_ignores"))
SEPARATOR = "\x1f"
MODE_OF_FILE = "100644"
EXECUTABLE = "100755"


class HarnessFile(NamedTuple):
    """A file of a commit: its path, its mode in git (`100644`; `120000` for a link), and its contents."""

    path: str
    mode: str
    contents: bytes


def harness_code(files: Iterable[HarnessFile]) -> str:
    """Return one SHA-256 of the code of `files`, whatever their order. Paths count; comments and the executable bit do not."""
    every = sorted((each.path, _mode(each), code_identity(each)) for each in files)
    return hashlib.sha256(repr(every).encode()).hexdigest()


def code_identity(file: HarnessFile) -> str:
    """Return a hash of the file's code without comments; of all its bytes if it is a link or can't be parsed."""
    words = _words(file) if _mode(file) == MODE_OF_FILE else None
    text = file.contents if words is None else SEPARATOR.join(words).encode(errors="surrogatepass")
    return f"{'bytes' if words is None else 'code'} {hashlib.sha256(text).hexdigest()}"


def python_words(source: bytes) -> list[str] | None:
    """Return the syntax tree of Python source as a list of words, without docstrings; None if it can't be parsed.

    Names of nodes and fields are words too. A field that is None or empty is left out, because newer versions of Python add
    such fields (`type_params`) and `ast.dump` leaves them out in some versions only.
    """
    try:
        with warnings.catch_warnings(action="ignore"):  # about an escape such as "\d", once for each reading
            return list(_tree_words(ast.parse(source)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _mode(file: HarnessFile) -> str:
    return MODE_OF_FILE if file.mode == EXECUTABLE else file.mode


def _words(file: HarnessFile) -> list[str] | None:
    if file.path.endswith(PYTHON_SUFFIXES):
        return python_words(file.contents)
    try:
        text = file.contents.decode()
    except UnicodeDecodeError:
        return None
    if file.path.endswith(C_SUFFIXES):
        return c_words(text)
    return shell_words(text) if file.path.endswith(SHELL_SUFFIXES) else None


def _tree_words(tree: ast.AST) -> Iterator[str]:
    """Yield the words of a syntax tree, without recursion: a long chain of operators would exceed Python's limit."""
    left: list[object] = [tree]
    while left:
        item = left.pop()
        if isinstance(item, ast.AST):
            yield f"({type(item).__name__}"
            left.append(_END)
            for name, value in reversed(list(ast.iter_fields(item))):
                if value is not None and value != [] and name not in SPELLING:
                    left += (_without_docstring(item, name, value), _Name(name))
        elif isinstance(item, list):
            yield "["
            left.append(_END)
            left += reversed(item)
        elif isinstance(item, _Name):
            yield item
        else:  # a value, or None in a list; hexadecimal, because Python writes no decimal of 5,000 digits
            yield hex(item) if type(item) is int else repr(item)


class _Name(str):
    """A word that stands for syntax (a field name, the end of a node or list) and so is never equal to a word of the source."""

    __slots__ = ()


_END = _Name(")")


def _without_docstring(node: ast.AST, name: str, value: object) -> object:
    if name != "body" or not isinstance(node, DOCUMENTED) or not isinstance(value, list):
        return value
    match value[0]:
        case ast.Expr(value=ast.Constant(value=str())):
            return value[1:]
    return value
