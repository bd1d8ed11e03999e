"""Collects every refusal of the source and writes docs/ERRORS.md, the one page with the wording of all error messages.

`python -m tests.checks.error_page` writes the page. `--check` compares it instead and fails when it differs.
"""

import ast
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = Path("docs/ERRORS.md")
KINDS = {
    "Refused": 1,
    "NewerFile": 1,
    "CommitNotHere": 1,
    "Misused": 2,
    "Busy": 75,
    "MachineTrouble": 1,
    "ControlFailed": 1,
    "Repeated": 1,
}
KINDS |= {"BadLaunch": 1, "Runaway": 1}
"""The classes of errors that take a code, with the exit status of each."""
FIELDS = ("expected", "found", "where", "hint")
TEXT = (ast.Constant, ast.JoinedStr, ast.IfExp, ast.BoolOp, ast.BinOp)
KEBAB = re.compile(r"[a-z0-9]+(-[a-z0-9]+)+")
UNSUPPORTED = ("text", "errors.py")
"""The one class of errors that makes its message itself: callers of it and of `Instruction.unsupported` give the reason."""
INTRODUCTION = """\
# Error messages

When a command is refused, it prints the refusal's code and message, then what was expected, what was found, where, and the
next command to type:

    Error [head-detached]: HEAD is detached
      expected  a branch that a KEEP can move
      found     commit 1f0c2d9a5b
      where     /home/me/kernel
      next      git switch main (or git switch -c NAME), then run again

The code is stable: a script or a test compares it, while the words may be improved. With `--json`, a refusal has the
field `code`. An option or an argument that a command does not take has the code `usage`.

This page lists every code with the wording of its message. It is generated: after a change of an error message, run
`python -m tests.checks.error_page`. Words in braces are filled in by the program; a bar separates alternatives; "or" begins
another wording of the same refusal. A line "where NAME is" gives the words that a filled-in NAME can be.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """One call that makes a refusal. `fields` has a pair of label and template for each line that is printed."""

    code: str
    status: int
    message: str
    fields: tuple[tuple[str, str], ...]
    place: str

    @property
    def meaning(self) -> str:
        """The message with every filled-in word made equal."""
        return re.sub(r"\{[^{}]*\}", "{}", self.message)


def template(node: ast.expr) -> str:
    """The text of an expression, with `{code}` for each part that is known only at run time."""
    match node:
        case ast.Constant(value=str(text)):
            return " / ".join(text.splitlines())
        case ast.JoinedStr(values=parts):
            return "".join(template(part) for part in parts)
        case ast.FormattedValue(value=ast.IfExp(body=ast.Constant(value=str(yes)), orelse=ast.Constant(value=str(no)))):
            return f"{{{yes!r} or {no!r}}}"
        case ast.FormattedValue(value=value):
            return f"{{{ast.unparse(value)}}}" if isinstance(value, ast.IfExp | ast.BoolOp) else template(value)
        case ast.IfExp(body=yes, orelse=no):
            return f"{template(yes)} | {template(no)}"
        case ast.BoolOp(op=ast.Or(), values=parts):
            return " | ".join(template(part) for part in parts)
        case ast.BinOp(left=left, op=ast.Add(), right=right) if isinstance(left, TEXT) or isinstance(right, TEXT):
            return template(left) + template(right)
        case ast.Call(func=ast.Name(id="one_line" | "plain_text" | "str"), args=[inner, *_]):
            return template(inner)
        case ast.Call(func=ast.Attribute(value=ast.Constant(value=str(between)), attr="join"), args=[parts]):
            return _joined(between, parts)
    return f"{{{ast.unparse(node)}}}"


def _joined(between: str, parts: ast.expr) -> str:
    match parts:
        case ast.Call(func=ast.Name(id="sorted" | "dict.fromkeys"), args=[inner]):
            return _joined(between, inner)
        case ast.GeneratorExp(elt=each) | ast.ListComp(elt=each) | ast.SetComp(elt=each):
            return f"{template(each)}{between.replace(chr(10), ' / ')}..."
        case ast.Tuple(elts=several) | ast.List(elts=several):
            return between.replace("\n", " / ").join(template(each) for each in several)
        case ast.Starred(value=inner):
            return template(inner)
    return template(parts)


def _texts(value: ast.expr) -> list[str]:
    """The templates in a value that is text or a list of texts; none for anything else."""
    match value:
        case ast.List(elts=several) | ast.Tuple(elts=several):
            return [text for each in several for text in _texts(each)]
        case ast.GeneratorExp(elt=each) | ast.ListComp(elt=each):
            return _texts(each)
    return [template(value)] if isinstance(value, TEXT) else []


def _has_words(text: str) -> bool:
    return re.search("[A-Za-z]", re.sub(r"\{[^{}]*\}", "", text)) is not None


def _assigned(scope: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Each name that a statement in `scope` gives a value, with the value."""
    for node in ast.walk(scope):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                yield name, value
            case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)) if len(names) == len(values):
                yield from ((name.id, value) for name, value in zip(names, values, strict=True) if isinstance(name, ast.Name))


def _given(function: ast.FunctionDef, name: str, file: Path, calls: list[tuple[Path, ast.Call]]) -> Iterator[ast.expr]:
    """What callers pass for the parameter `name` of a function that makes refusals for them."""
    positions = [each.arg for each in function.args.args if each.arg != "self"]
    for other, node in calls:
        match node:
            case ast.Call(func=ast.Name(id=called)) if called == function.name and other == file:
                pass
            case ast.Call(func=ast.Name(id="Unsupported") | ast.Attribute(attr="unsupported")) if (
                file.parts[-2:] == UNSUPPORTED
            ):
                pass
            case ast.Call(func=ast.Attribute(value=ast.Name(id=owner), attr=called)) if called == function.name and (
                owner == file.stem or (owner == "self" and other == file)
            ):
                pass
            case _:
                continue
        position = positions.index(name) if name in positions else len(node.args)
        yield from (each.value for each in node.keywords if each.arg == name)
        yield from node.args[position : position + 1]


def _origins(
    nodes: Iterable[ast.expr],
    function: ast.FunctionDef | None,
    file: Path,
    tree: ast.Module,
    calls: list[tuple[Path, ast.Call]],
) -> Iterator[tuple[str, str]]:
    """The words that a name in `nodes` can stand for: assigned in the function or the module, or passed by a caller."""
    names = dict.fromkeys(each.id for node in nodes for each in ast.walk(node) if isinstance(each, ast.Name))
    for name in names:
        values = [value for known, value in _assigned(function) if known == name] if function is not None else []
        parameters = function.args.args + function.args.kwonlyargs if function is not None else []
        if function is not None and any(each.arg == name for each in parameters):
            values += list(_given(function, name, file, calls))
        top = [each for each in tree.body if isinstance(each, ast.Assign)]
        values += [value for each in top for known, value in _assigned(each) if known == name] if not values else []
        texts = dict.fromkeys(text for value in values for text in _texts(value) if _has_words(text))
        yield from ((f"where {name} is", text) for text in texts)


def _calls(node: ast.AST, function: ast.FunctionDef | None) -> Iterator[tuple[ast.Call, ast.FunctionDef | None]]:
    for child in ast.iter_child_nodes(node):
        inside = child if isinstance(child, ast.FunctionDef) else function
        if isinstance(child, ast.Call):
            yield child, inside
        yield from _calls(child, inside)


def _called(call: ast.Call) -> str:
    """The last name of what is called: `damaged` of `refusals.damaged(...)`."""
    return getattr(call.func, "id", "") or getattr(call.func, "attr", "")


def _kind(call: ast.Call) -> str:
    """The class of the refusal that `call` makes; empty when it makes none."""
    match call.func:
        case ast.Name(id=kind) if kind in KINDS:
            return kind
        case ast.Attribute(value=ast.Call(func=ast.Name(id="super")), attr="__init__"):
            return "Refused" if any(each.arg == "code" for each in call.keywords) else ""
    return ""


@cache
def _parsed(source: bytes) -> ast.Module:
    """Parsed once where several trees are looked at that differ in one file."""
    return ast.parse(source)


def wordings(root: Path = ROOT) -> list[Wording]:
    """Every refusal that the source can make, in the order of codes."""
    files = sorted([*(root / "expctl").rglob("*.py"), *(root / "kernel").rglob("*.py")])
    trees = {file: _parsed(file.read_bytes()) for file in files}
    all_calls = {file: list(_calls(tree, None)) for file, tree in trees.items()}
    makers = {function.name for each in all_calls.values() for call, function in each if function and _kind(call)}
    wanted = makers | {"Unsupported", "unsupported"}
    calls = [(file, call) for file, several in all_calls.items() for call, _ in several if _called(call) in wanted]
    found = []
    for file, tree in trees.items():
        for call, function in all_calls[file]:
            given = {each.arg: each.value for each in call.keywords}
            kind = _kind(call)
            if not kind:
                continue
            place = f"{file.relative_to(root)}:{call.lineno}"
            code = given.get("code")
            if not isinstance(code, ast.Constant) or not isinstance(code.value, str):
                raise SystemExit(f'{place}: expected code="...", found {ast.unparse(code) if code else "none"}')
            shown = [(field, given[field]) for field in FIELDS if field in given]
            lines = [("next" if field == "hint" else field, template(value)) for field, value in shown]
            lines += _origins([call.args[0], *(value for _, value in shown)], function, file, tree, calls)
            found.append(
                Wording(code=code.value, status=KINDS[kind], message=template(call.args[0]), fields=tuple(lines), place=place)
            )
    return sorted(found, key=lambda each: (each.code, each.place))


def faults(found: list[Wording]) -> list[str]:
    """Codes that are not words joined by hyphens, codes with two meanings, and meanings with two codes."""
    said = [f"{each.place}: {each.code!r} is not words joined by hyphens" for each in found if not KEBAB.fullmatch(each.code)]
    by_code, by_meaning = defaultdict(list), defaultdict(list)
    for each in found:
        by_code[each.code].append(each)
        if _has_words(each.message):
            by_meaning[each.meaning].append(each)
    for code, group in by_code.items():
        if len({(each.meaning, each.status) for each in group}) > 1:
            said.append(f"{code} has two meanings: {', '.join(f'{each.place} {each.message!r}' for each in group)}")
    for meaning, group in by_meaning.items():
        if len({each.code for each in group}) > 1:
            said.append(f"{meaning!r} has two codes: {', '.join(f'{each.place} {each.code}' for each in group)}")
    return said


def page(found: list[Wording]) -> str:
    """The Markdown of docs/ERRORS.md: a heading for each code, and its wordings as they are printed."""
    lines = [INTRODUCTION]
    by_code: dict[str, dict[str, None]] = defaultdict(dict)
    for each in found:
        block = "\n".join(
            (f"    {each.message}", *(f"      {label:<9} {text}".rstrip() for label, text in each.fields)),
        )
        by_code[f"{each.code}` (exit status {each.status})"][block] = None
    for code, blocks in by_code.items():
        lines.append(f"## `{code}\n\n" + "\n\n  or\n\n".join(blocks) + "\n")
    return "\n".join(lines)


def main(words: list[str], root: Path = ROOT) -> int:
    """Write the page, or with `--check` compare it. Returns the exit status."""
    found = wordings(root)
    problems = faults(found)
    file = root / PAGE
    text = page(found)
    if "--check" in words and (not file.is_file() or file.read_text("utf-8") != text):
        problems.append(f"{PAGE} is not the wording of the source: run python -m tests.checks.error_page")
    if "--check" not in words:
        file.write_text(text, "utf-8")
    print("\n".join(problems), file=sys.stderr, end="\n" if problems else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
