"""Copy a source and write beside a Python file what its code says, without comments: run by the target's interpreter.

    python python_outline.py SOURCE COPY

COPY.outline is JSON: `whole` is the module; `host` the module without the bodies of functions with a decorator `jit`, which are
in `kernels` by name. A file that doesn't parse ends it with status 1 and the message of Python.
"""

import ast
import json
import sys
from pathlib import Path

READS_ITSELF = ("__doc__", "getsource", "getcomments", "linecache", "f_lineno", "co_firstlineno", "tb_lineno")
"""Names by which code can see its comments, docstrings or lines; where one occurs, the text is the code."""
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def main(source: str, copy: str) -> None:
    """Write the file `copy` and, for Python, its outline."""
    data = Path(source).read_bytes()
    if not source.endswith(".py"):
        Path(copy).write_bytes(data)
        return
    try:
        tree = ast.parse(data, source)
    except (SyntaxError, ValueError) as error:
        sys.exit(f"{source}:{getattr(error, 'lineno', None) or 1}: error: {getattr(error, 'msg', error)}")
    Path(copy).write_bytes(data)
    text = data.decode(errors="surrogateescape")
    Path(f"{copy}.outline").write_text(json.dumps(outline(tree, text if any(name in text for name in READS_ITSELF) else "")))


def outline(tree: ast.Module, text: str) -> "dict[str, object]":
    """Return the outline of a module. `text` is the file's where the code reads it, else empty."""
    _drop_docstrings(tree)
    whole = text + ast.dump(tree)
    kernels = {}  # type: dict[str, str]
    for each in ast.walk(tree):
        if isinstance(each, ast.FunctionDef) and any(map(_is_jit, each.decorator_list)):
            body = ast.dump(ast.Module(body=each.body, type_ignores=[]))
            kernels[each.name] = kernels.get(each.name, "") + body
            each.body = []
    return {"whole": whole, "host": text + ast.dump(tree), "kernels": kernels}


def _drop_docstrings(tree: ast.Module) -> None:
    for each in ast.walk(tree):
        if isinstance(each, (ast.Module, *DEFINITIONS)) and ast.get_docstring(each, clean=False) is not None:
            each.body[:1] = [] if len(each.body) > 1 or isinstance(each, ast.Module) else [ast.Pass()]


def _is_jit(decorator: ast.expr) -> bool:
    named = decorator.func if isinstance(decorator, ast.Call) else decorator
    return (named.attr if isinstance(named, ast.Attribute) else getattr(named, "id", "")) == "jit"


if __name__ == "__main__":
    main(*sys.argv[1:])
