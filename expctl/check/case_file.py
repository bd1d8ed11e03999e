"""Read a launch description from a YAML file, or from a Python file that may also compute what is expected."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from expctl.check.case import Case, Line, Reference, case_of, refusal, unknown_line
from expctl.check.users_process import UsersProcess
from expctl.domain.text import plain_text
from expctl.files.user_file import contents

if TYPE_CHECKING:
    from yaml import Node

BYTES_MAX = 1 << 20
_STEP = re.compile(r"(\w+)|\[(\d+)\]")
_FLOAT = re.compile(r"[-+]?((\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?|\.(inf|nan))")


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """A launch description and, from a Python file, the function that computes the expected outputs."""

    case: Case
    reference: Reference | None = None
    where: str
    """The file, for messages."""
    line: Line = unknown_line


def read_case(path: Path) -> Description:
    """Read a description. A .py file is run, in its own process. Raises Refused if it can't be, or with all problems in it."""
    where = plain_text(str(path))
    if path.suffix.lower() == ".py":
        return _of_python(path, where)
    text = contents(path, "the launch description", bytes_max=BYTES_MAX)
    return _of_yaml(text.decode(errors="replace"), where)


def _of_python(path: Path, where: str) -> Description:
    contents(path, "the launch description", bytes_max=BYTES_MAX)
    process = UsersProcess(path, where)
    defined = process.defined
    if not isinstance(defined.case, dict):
        raise refusal([("case", "the file defines no dict of this name")], where)
    if defined.has_reference and not defined.is_function:
        raise refusal([("reference", "expected a function of (arrays, shapes)")], where)
    reference = process.reference if defined.has_reference else None
    return Description(case=case_of(dict(defined.case), where), reference=reference, where=where)


def _of_yaml(text: str, where: str) -> Description:
    import yaml

    class Loader(yaml.SafeLoader):
        """YAML in which `no` and `on` are text, 1e-5 is a number, no key stands twice in a mapping, and nothing is an alias:
        a few lines of these make a list without end, or one of billions.
        """

        def compose_node(self, parent: Any, index: Any) -> Any:
            if self.check_event(yaml.AliasEvent):
                event = self.get_event()  # type: ignore[no-untyped-call]
                raise yaml.composer.ComposerError(None, None, "aliases are not taken", event.start_mark)
            return super().compose_node(parent, index)

        def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
            keys = [key.value for key, _ in node.value]
            if twice := [key for i, key in enumerate(keys) if key in keys[:i]]:
                raise yaml.constructor.ConstructorError(None, None, f"two keys are called {twice[0]}", node.start_mark)
            return super().construct_mapping(node, deep)

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
