"""Programs as trees of text: what is drawn, printed, changed in one place, and made smaller."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from benchmarks.check.random_programs.value_types import Type


@dataclass(frozen=True, slots=True)
class Expression:
    """A value of `type`: a format with {0}, {1}, ... in the places of `parts`."""

    type: Type
    format: str
    parts: tuple[Expression, ...] = ()

    def __str__(self) -> str:
        return self.format.format(*self.parts)

    def all(self) -> Iterator[Expression]:
        """Yield the expression and all within it, the outermost first."""
        yield self
        for part in self.parts:
            yield from part.all()


@dataclass(frozen=True, slots=True)
class Node:
    """A statement or declaration: a format with {0}, ... for `expressions` and {b0}, ... for `blocks` of nodes.

    `declares` is a name that others, or its blocks, may use. A jump leaves the loop around it. What `is_fixed` is never
    dropped.
    """

    format: str
    expressions: tuple[Expression, ...] = ()
    blocks: tuple[tuple[Node, ...], ...] = ()
    declares: str = ""
    is_jump: bool = False
    is_fixed: bool = False

    def __str__(self) -> str:
        blocks = {f"b{i}": textwrap.indent(text_of(block), "    ") for i, block in enumerate(self.blocks)}
        return self.format.format(*self.expressions, **blocks)

    def all(self) -> Iterator[Node]:
        """Yield the node and all within it, the outermost first."""
        yield self
        for block in self.blocks:
            for node in block:
                yield from node.all()


Nodes = tuple[Node, ...]


def text_of(nodes: Nodes) -> str:
    """Return the nodes' text, each from a line of its own."""
    return "".join(f"{node}\n" for node in nodes)


def all_nodes(nodes: Nodes) -> list[Node]:
    """Return the nodes and all within them, in the order of the text."""
    return [each for node in nodes for each in node.all()]


def all_expressions(nodes: Nodes) -> list[Expression]:
    """Return all expressions of the nodes, in the order of the text; an outer one before those within it."""
    return [each for node in all_nodes(nodes) for outer in node.expressions for each in outer.all()]


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """What takes the place of a node or an expression, by its id()."""

    nodes: Mapping[int, Nodes]
    expressions: Mapping[int, Expression]

    def of(self, nodes: Nodes) -> Nodes:
        """Return the nodes as they are after the edit. What takes a place isn't edited itself."""
        return tuple(new for node in nodes for new in self._node(node))

    def _node(self, node: Node) -> Nodes:
        if id(node) in self.nodes:
            return self.nodes[id(node)]
        expressions = tuple(map(self._expression, node.expressions))
        return (replace(node, expressions=expressions, blocks=tuple(map(self.of, node.blocks))),)

    def _expression(self, old: Expression) -> Expression:
        if new := self.expressions.get(id(old)):
            return new
        return replace(old, parts=tuple(map(self._expression, old.parts)))
