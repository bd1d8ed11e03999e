"""Find the functions of a Python file that a harness could call."""

import ast
from collections.abc import Iterator

from expctl.domain.protocol.first_protocol import Kind, Sketch


def kind_of(text: str) -> Kind | None:
    """Return which kind of kernel a Python text is, by its imports; None for one that doesn't parse or defines no function."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return None
    names = {each.name.partition(".")[0] for node in ast.walk(tree) if isinstance(node, ast.Import) for each in node.names}
    names |= {(node.module or "").partition(".")[0] for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    if not any(sketches(text, Kind.PYTHON)):
        return None
    return Kind.TRITON if "triton" in names else Kind.TORCH if "torch" in names else Kind.PYTHON


def sketches(text: str, kind: Kind) -> Iterator[Sketch]:
    """Yield a sketch of each public function at the top level of a Python text; none of one that doesn't parse."""
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError):
        return
    for node in body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_") and not _is_jit(node):
            required = node.args.args[: len(node.args.args) - len(node.args.defaults)]
            names = tuple(each.arg for each in required)
            if names:
                drawn = "rng.standard_normal(n)" if kind is Kind.PYTHON else "torch.randn(n, device=DEVICE)"
                inputs = ", ".join([drawn] * len(names)) + ("," if len(names) == 1 else "")
                call = f"build.{node.name}({', '.join(names)})"
                yield Sketch(function=node.name, parameters=names, inputs=inputs, call=call)


def _is_jit(node: ast.FunctionDef) -> bool:
    return any("jit" in ast.unparse(each) for each in node.decorator_list)
