"""A decoded Tensile kernel name as text, one key per line."""

from expctl.domain.text import plain_text
from expctl.gpu.tensile.decode import DecodedName
from expctl.gpu.tensile.keys import Key, Value
from expctl.gpu.tensile.name import KernelName
from expctl.gpu.tensile.problem import Problem
from expctl.gpu.tensile.threads import Threads
from expctl.gpu.tensile.types import type_words


def tensile_lines(reading: DecodedName) -> list[str]:
    """Return a decoded Tensile kernel name as lines of text: what the kernel computes, its keys explained, unknown parts."""
    kernel = reading.kernel
    return [
        plain_text(kernel.name),
        f"  {kernel.dialect}, {kernel.kind}: {plain_text(kernel.purpose)}. Values are what the generator was asked for.",
        *_labelled("computes", _problem_lines(kernel.problem, reading.layout)),
        *_labelled("tile", _tile_lines(kernel)),
        *_labelled("threads", _thread_lines(reading.threads)),
        *_key_lines(kernel.keys),
        *_labelled("also", [plain_text(word) for word in kernel.words]),
        *_labelled("unknown", [f"{', '.join(reading.omitted)}: {reading.why}"] if reading.omitted else []),
        *_labelled(
            "differs",
            [
                f"{each.parameter}: requested {value(each.requested)}, record differs: {each.recorded}"
                for each in reading.differs
            ],
        ),
    ]


def value(found: Value) -> str:
    """Return a key's value as text, in the form of a Tensile configuration: a list is in brackets."""
    return f"[{', '.join(map(str, found))}]" if isinstance(found, tuple) else f"{found}"


def _problem_lines(problem: Problem | None, layout: str) -> list[str]:
    if problem is None:
        return []
    operands = (
        f"A {type_words(problem.a.type)}, B {type_words(problem.b.type)}" if problem.a.type else "types of A and B unknown"
    )
    result = f"C and D {type_words(problem.result)}" if problem.result else "type of C and D not in the name"
    computed = f"computed in {type_words(problem.computed)}" if problem.computed else "type of the computation not in the name"
    lines = [f"{problem.formula} ({layout})", f"{operands}; {result}; {computed}"]
    if problem.multiplied not in (problem.a.type, problem.a.type + problem.b.type):
        lines.append(f"multiplied as {type_words(problem.multiplied)}")
    return [*lines, "; ".join((("C counts (beta)",) if problem.uses_beta else ()) + problem.flags)]


def _tile_lines(kernel: KernelName) -> list[str]:
    lines = []
    if kernel.tile:
        m, n, depth = kernel.tile
        lines.append(f"{m} x {n} of C per workgroup, {depth} steps of the sum per iteration (DepthU)")
    if kernel.instruction:
        each = kernel.instruction
        k = f"{each.k} steps of the sum" if each.k is not None else "steps of the sum not in the name"
        lines.append(f"matrix instruction {each.m} x {each.n}, {k}, {each.blocks} block{'' if each.blocks == 1 else 's'}")
    return lines


def _thread_lines(found: Threads) -> list[str]:
    if found.workgroup is None and found.waves is None:
        return []
    waves = f"{found.waves} waves" if found.waves else "waves unknown"
    wave = f" of {found.wave} lanes" if found.wave else ", lanes of a wave not in the name (--arch tells)"
    count = f"{found.workgroup} per workgroup, " if found.workgroup else ""
    return [f"{count}{waves}{wave}{', ' + found.assumed if found.assumed else ''}"]


def _key_lines(keys: tuple[Key, ...]) -> list[str]:
    if not keys:
        return []
    tokens = max(len(key.token) for key in keys)
    names = [f"{key.parameter} = {value(key.value)}" if key.value != () else key.parameter for key in keys]
    width = max(map(len, names))
    return [
        f"  {plain_text(key.token):<{tokens}}  {name if key.known else '?':<{width}}  {key.meaning}"
        for key, name in zip(keys, names, strict=True)
    ]


def _labelled(label: str, lines: list[str]) -> list[str]:
    return [f"  {label if index == 0 else '':<9} {line}" for index, line in enumerate(filter(None, lines))]
