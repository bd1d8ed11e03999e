"""The head of a Tensile name: which tensors are multiplied, and of which types.

`Cijk_Ailk_Bljk_HHS_BH`: C[i,j,k] is the sum over l of A[i,l,k] B[l,j,k]; the first index of a tensor is contiguous, so A is
transposed when the sum comes first in it, and B when it doesn't. Then types (of A and B where they are not what is multiplied;
of what is multiplied, of C and D, of the computation) and flags.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from expctl.gpu.tensile.flags import flag_words
from expctl.gpu.tensile.types import TYPE, TYPES, types_of

TENSORS = re.compile(r"C([a-z]+)_A([a-zA-Z]+?)(C?)_B([a-zA-Z]+?)(C?)(?:_(.*))?", re.ASCII)
# UseBeta, HighPrecisionAccumulate, Fp16AltImpl (and its rounding), UseInitialStridesAB, UseInitialStridesCD
FLAGS = re.compile(r"BH?(?:RZ?)?I?(?:Ic)?", re.ASCII)
MATH = re.compile(r"M[A-Z]\d?", re.ASCII)
TYPES_AND_FLAGS = re.compile(f"((?:{TYPE})+?)(BH?(?:RZ?)?I?(?:Ic)?)", re.ASCII)
GLUED = re.compile(r"(.*B[HR]*)(Bias.*)", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Operand:
    """One factor: its indices as written and its type in memory, empty where the name doesn't say."""

    indices: str
    transposed: bool
    conjugated: bool
    type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """What the kernel computes. An empty type is not in the name; `multiplied` is what the instructions take."""

    formula: str
    a: Operand
    b: Operand
    multiplied: str
    result: str
    computed: str
    uses_beta: bool
    flags: tuple[str, ...]

    @property
    def layout(self) -> str:
        """`NN`, `NT`, `TN` or `TT`, with C for a conjugated operand."""
        return "".join("C" if each.conjugated else "T" if each.transposed else "N" for each in (self.a, self.b))


def read_problem(head: str) -> tuple[Problem, tuple[str, ...]] | None:
    """The problem that `head` names, with the tokens that say nothing about it; None if it names none."""
    found = TENSORS.fullmatch(head)
    if found is None:
        return None
    c, a, conjugate_a, b, conjugate_b, rest = found.groups()
    tokens = [part for token in (rest or "").split("_") for part in _unglued(token) if part]
    type_tokens, letters, others = _parts(tokens)
    types = _types(type_tokens, letters)
    words, strange = flag_words(others)
    summed = [letter for letter in a if letter.lower() not in c]

    def operand(indices: str, conjugated: str, plain: bool, short: str) -> Operand:
        return Operand(indices=indices, transposed=not plain, conjugated=bool(conjugated), type=short)

    problem = Problem(
        formula=f"C[{','.join(c)}] = sum over {','.join(summed) or 'nothing'} of A[{','.join(a)}] B[{','.join(b)}]",
        a=operand(a, conjugate_a, a[0] not in summed, types[0]),
        b=operand(b, conjugate_b, b[0] in summed, types[1]),
        multiplied=types[2],
        result=types[3],
        computed=types[4],
        uses_beta="B" in letters,
        flags=(*_letter_words(letters), *words),
    )
    return problem, strange if types[2] else (*type_tokens, *strange)


def _unglued(token: str) -> Sequence[str]:
    """TensileLite of 2023 wrote `BBiasH` for `B_BiasH`."""
    found = GLUED.fullmatch(token)
    return found.groups() if found else (token,)


def _parts(tokens: Sequence[str]) -> tuple[Sequence[str], str, Sequence[str]]:
    """The tokens of types, the letters of flags (which may end the only token of types), and the tokens after them."""
    for index, token in enumerate(tokens[1:4], start=1):
        if FLAGS.fullmatch(token):
            return tokens[:index], token, tokens[index + 1 :]
        if not TYPES.fullmatch(token) and not MATH.fullmatch(token):
            break
    whole = TYPES_AND_FLAGS.fullmatch(tokens[0]) if tokens else None
    after = 2 if len(tokens) > 1 and MATH.fullmatch(tokens[1]) else 1  # SB_MX
    return ([whole[1], *tokens[1:after]], whole[2], tokens[after:]) if whole else (tokens[:1], "", tokens[1:])


def _types(tokens: Sequence[str], letters: str) -> tuple[str, str, str, str, str]:
    """Types of A, of B, of what is multiplied, of C and D, of the computation; empty where the name doesn't say."""
    math = next((token[1:] for token in tokens if MATH.fullmatch(token)), "")
    parts = [types_of(token) for token in tokens if not MATH.fullmatch(token)]
    last = [each for part in parts[-2:] for each in part]
    memory: list[str] = []
    if len(parts) == 2 and len(parts[1]) >= 3:  # F8H_HHS: what lies in memory stands first
        memory, last = parts
    inputs, result, computed = (last[:-2], last[-2], last[-1]) if len(last) >= 3 else (last, "", "")
    if not result and "H" not in letters and len(set(inputs)) == 1:
        result = computed = inputs[0]
    memory = memory or inputs
    return (memory[0] if memory else ""), (memory[-1] if memory else ""), math or "".join(inputs), result, computed


def _letter_words(letters: str) -> tuple[str, ...]:
    said = (
        ("H" in letters, "accumulates in higher precision"),
        ("R" in letters, "half inputs go through the bfloat16 matrix instruction"),
        ("RZ" in letters, "with another rounding"),
        (re.search(r"I(?!c)", letters), "A and B have a stride in their first index"),
        ("Ic" in letters, "C and D have a stride in their first index"),
    )
    return tuple(words for claim, words in said if claim)
