"""Read a launch description from a YAML file, or from a Python file that may also compute what is expected."""

from __future__ import annotations

import re
import runpy
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from expctl.check.case import Case, Line, Reference, case_of, refusal, unknown_line
from expctl.domain.errors import Refused
from expctl.domain.text import one_line, plain_text
from expctl.files.user_file import contents

if TYPE_CHECKING:
    from yaml import Node

BYTES_MAX = 1 << 20
_STEP = re.compile(r"(\w+)|\[(\d+)\]")
_FLOAT = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """A launch description and, from a Python file, the function that computes the expected outputs."""

    case: Case
    reference: Reference | None = None
    where: str
    """The file, for messages."""
    path: Path | None = None
    """The Python file that holds the reference; None if that is the caller's own function."""
    line: Line = unknown_line


def read_case(path: Path) -> Description:
    """Read a description. A .py file is run. Raises Refused if it can't be read or run, or with all problems in it."""
    where = plain_text(str(path))
    if path.suffix.lower() == ".py":
        return _of_python(path, where)
    text = contents(path, "the launch description", bytes_max=BYTES_MAX)
    return _of_yaml(text.decode(errors="replace"), where)


def _of_python(path: Path, where: str) -> Description:
    contents(path, "the launch description", bytes_max=BYTES_MAX)
    try:
        names = runpy.run_path(str(path))
    except (Exception, SystemExit) as error:
        raise failed(error, path, where) from error
    if "case" not in names:
        raise refusal([("case", "the file defines no dict of this name")], where)
    reference = names.get("reference")
    if reference is not None and not callable(reference):
        raise refusal([("reference", "expected a function of (arrays, shapes)")], where)
    return Description(case=case_of(names["case"], where), reference=reference, where=where, path=path)


def failed(error: BaseException, path: Path, where: str) -> Refused:
    """Return the error, not raised, that the user's Python file at `path` raised `error`; it names the last line there."""
    line, trace = getattr(error, "lineno", None) if isinstance(error, SyntaxError) else None, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == str(path):
            line = trace.tb_lineno
        trace = trace.tb_next
    return Refused(
        "the Python of the launch description failed",
        code="case-failed",
        expected="a file that defines case, and reference if you like",
        found=one_line(f"{type(error).__name__}: {error}", 300),
        where=f"{where}:{line}" if line else where,
        hint="correct that line; python FILE shows the whole traceback",
    )


def _of_yaml(text: str, where: str) -> Description:
    import yaml

    class Loader(yaml.SafeLoader):
        """YAML in which `no` and `on` are text, and 1e-5 is a number."""

    resolvers = yaml.SafeLoader.yaml_implicit_resolvers
    kept = ("tag:yaml.org,2002:int", "tag:yaml.org,2002:null")
    Loader.yaml_implicit_resolvers = {first: [pair for pair in pairs if pair[0] in kept] for first, pairs in resolvers.items()}
    Loader.add_implicit_resolver("tag:yaml.org,2002:float", re.compile(f"(?:{_FLOAT.pattern})$"), list("-+.0123456789"))
    try:
        root = yaml.compose(text, Loader=Loader)
        raw = yaml.load(text, Loader=Loader)  # noqa: S506  a kind of SafeLoader
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise refusal([("", f"not YAML: {' '.join(str(error).split())}")], where) from error
    line = partial(_line_of, root)
    return Description(case=case_of(raw, where, line), where=where, line=line)


def _line_of(root: Node | None, path: str) -> int:
    """Return the line, from 1, of the value at `path` (`arguments[0].shape`), or of the nearest one around it; 0 if none."""
    node: Any = root
    for name, index in _STEP.findall(path):
        found = None
        if name and isinstance(node.value, list) and node.id == "mapping":
            found = next((value for key, value in node.value if key.value == name), None)
        elif index and node.id == "sequence" and int(index) < len(node.value):
            found = node.value[int(index)]
        if found is None:
            break
        node = found
    return node.start_mark.line + 1 if node is not None else 0
