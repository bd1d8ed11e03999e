"""The blocks of a function of LLVM IR in one form: which is the same wherever an optimiser has split blocks or put them.

A block that does nothing but go on is left out, two that always follow one another are one, and the order is that of a walk
which chooses its way by what blocks do.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from expctl.inspection.readers.llvm_sums import digest
from expctl.inspection.readers.llvm_text import NAME, Block, Instruction

_LABEL = re.compile(rf"label %({NAME})")
_ACTS = re.compile(r"(?:store|call|fence|atomicrmw|cmpxchg|ret|unreachable|switch|load (?:volatile|atomic)|invoke)\b")
_CALLED = re.compile(rf"@{NAME}|asm")
_NOTHING = re.compile(
    r"@llvm\.(?:lifetime|assume|dbg|experimental\.noalias|invariant|s?min|s?max|u?min|u?max|fabs|fma|fmuladd)\b"
)
ROUNDS = 4


def successors(block: Block) -> Iterator[str]:
    """Yield the labels to which a block may go on."""
    last = block.body[-1].text
    if last.startswith(("br ", "switch ")):
        yield from _LABEL.findall(last)


def in_one_form(blocks: Sequence[Block]) -> list[Block]:
    """Return the blocks that can be reached, without those that only go on, in the order of the walk: a loop's head is before
    its other blocks.
    """
    first = blocks[0].label
    held = {block.label: list(block.body) for block in blocks}
    _leave_out(first, held)
    _join(held)
    return _ordered(first, {label: Block(label, tuple(body)) for label, body in held.items()})


def _predecessors(held: dict[str, list[Instruction]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {label: [] for label in held}
    for label, body in held.items():
        for each in successors(Block(label, tuple(body))):
            found[each].append(label)
    return found


def _leave_out(first: str, held: dict[str, list[Instruction]]) -> None:
    """Send those that go to a block which does nothing to where it goes. What it computes is computed there."""
    before = _predecessors(held)
    for label in [*held]:
        body = held[label]
        after = next(successors(Block(label, tuple(body))), "") if body[-1].text.startswith("br label ") else ""
        idle = after not in ("", label) and label != first
        if not idle or any(_acts(each.text) or each.text.startswith(("phi ", "load ")) for each in body[:-1]):
            continue
        froms = before[label]
        if not froms or set(froms) & {*before[after], label}:
            continue
        for each in dict.fromkeys(froms):
            last = held[each][-1]
            held[each][-1] = Instruction(
                last.result, re.sub(rf"label %{re.escape(label)}(?![\w.$-])", f"label %{after}", last.text)
            )
        moved = [_entered(each, label, tuple(dict.fromkeys(froms))) for each in held[after]]
        phis = [each for each in moved if each.text.startswith("phi ")]
        held[after] = [*phis, *body[:-1], *moved[len(phis) :]]
        before[after] = [each for each in before[after] if each != label] + froms
        del held[label], before[label]


def _join(held: dict[str, list[Instruction]]) -> None:
    """Make one block of two of which the second follows the first alone, and nothing else does."""
    before = _predecessors(held)
    for label in [*held]:
        while label in held and held[label][-1].text.startswith("br label "):
            after = next(successors(Block(label, tuple(held[label]))))
            if before[after] != [label] or after == label or held[after][0].text.startswith("phi "):
                break
            tail = held.pop(after)
            held[label] = [*held[label][:-1], *tail]
            for each in successors(Block(label, tuple(tail))):
                before[each] = [label if one == after else one for one in before[each]]
                held[each] = [_entered(one, after, (label,)) for one in held[each]]


def _entered(each: Instruction, old: str, froms: Sequence[str]) -> Instruction:
    """Say in a phi that a value comes from each of `froms`, not from `old`."""
    if not each.text.startswith("phi ") or f", %{old} ]" not in each.text:
        return each
    entry = re.compile(rf"\[ ((?:(?! \]).)*), %{re.escape(old)} \]")
    text = entry.sub(lambda found: ", ".join(f"[ {found[1]}, %{label} ]" for label in froms), each.text)
    return Instruction(each.result, text)


def _acts(text: str) -> bool:
    return bool(_ACTS.match(text)) and not _NOTHING.search(text)


def _ordered(first: str, by_label: dict[str, Block]) -> list[Block]:
    """Return blocks in reverse post-order of a walk from the entry."""
    likes = _likes(by_label)

    def onward(label: str) -> Iterator[str]:
        return iter(sorted(dict.fromkeys(successors(by_label[label])), key=likes.__getitem__))

    seen, done = {first}, []  # type: set[str], list[Block]
    stack = [(first, onward(first))]
    while stack:
        label, rest = stack[-1]
        following = next((each for each in rest if each not in seen), None)
        if following is None:
            done.append(by_label[label])
            stack.pop()
        else:
            seen.add(following)
            stack.append((following, onward(following)))
    return done[::-1]


def _likes(by_label: dict[str, Block]) -> dict[str, str]:
    """Return a hash of each block by what it does and what stands around it, whatever its expressions are."""
    found = {label: digest(*_deeds(block)) for label, block in by_label.items()}
    ways = {label: list(successors(block)) for label, block in by_label.items()}
    backs: dict[str, list[str]] = {label: [] for label in by_label}
    for label, after in ways.items():
        for each in after:
            backs[each].append(label)
    for _ in range(ROUNDS):
        found = {
            label: digest(
                each, "to", *sorted(found[to] for to in ways[label]), "from", *sorted(found[to] for to in backs[label])
            )
            for label, each in found.items()
        }
    return found


def _deeds(block: Block) -> Iterator[str]:
    for each in block.body:
        if _acts(each.text):
            called = _CALLED.search(each.text) if each.text.startswith("call") else None
            yield f"{each.text.split(' ', 1)[0]} {called[0] if called else ''}"
