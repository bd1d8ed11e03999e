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
_ACTS = re.compile(
    r"(?:store|call|fence|atomicrmw|cmpxchg|ret|unreachable|switch|load (?:volatile|atomic)|invoke|ptx (?:volatile|here))\b"
)
_CALLED = re.compile(rf"@{NAME}|asm")
_NOTHING = re.compile(
    r"@llvm\.(?:lifetime|assume|dbg|experimental\.noalias|invariant|s?min|s?max|u?min|u?max|fabs|fma|fmuladd)\b"
)
_ENTRY = re.compile(rf"\[ (.*?), %({NAME}) \]")
_LOCAL = re.compile(r"%\d+\b")
_PTX = re.compile(r"ptx [^%]*")
_IN_PLACE = ("phi ", "load ", "alloca ")
_FIRST_CHOICE = 900000
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
    count = -1
    while count != len(held):
        count = len(held)
        _leave_out(first, held)
        _choose(held)
        _join(held)
    return _ordered(first, {label: Block(label, tuple(_computed_first(body))) for label, body in held.items()})


def _computed_first(body: Sequence[Instruction]) -> Iterator[Instruction]:
    """Yield instructions, each after those of the block that compute what it takes, which a choice may have been put before."""
    waiting = {each.result: each for each in body if each.result and not each.text.startswith(_IN_PLACE)}
    waiting = {name: each for name, each in waiting.items() if not _acts(each.text)}

    def needed(each: Instruction) -> Iterator[Instruction]:
        for name in _LOCAL.findall(each.text):
            if name in waiting:
                yield from needed(waiting.pop(name))
        yield each

    for each in body:
        if each.text.startswith("phi "):
            yield each
        elif each.result in waiting:
            yield from needed(waiting.pop(each.result))
        elif not each.result or each.text.startswith(_IN_PLACE) or _acts(each.text):
            yield from needed(each)


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


def _choose(held: dict[str, list[Instruction]]) -> None:
    """Make a choice of values of what is a choice of ways, where nothing but values is computed on the way."""
    before = _predecessors(held)
    for label in [*held]:
        if label not in held:
            continue
        last = held[label][-1].text
        ways = _LABEL.findall(last)
        if not last.startswith("br i1 ") or len(set(ways)) != 2:
            continue
        idle = [_goes_to(held, way) if before[way] == [label] else "" for way in ways]
        after = idle[0] or idle[1]
        if not after or after == label or any(end != after for end in (idle[at] or way for at, way in enumerate(ways))):
            continue
        froms = [way if idle[at] else label for at, way in enumerate(ways)]
        computed = [each for at, way in enumerate(ways) if idle[at] for each in held[way][:-1]]
        condition = last[6:].split(",", 1)[0]
        phis = [each for each in held[after] if each.text.startswith("phi ")]
        chosen, kept = [], []  # type: list[Instruction], list[Instruction]
        for each in phis:
            head, _, entries = each.text.partition(" [ ")
            values = {source: value for value, source in _ENTRY.findall(f"[ {entries}")}
            kind = head.removeprefix("phi ")
            text = f"select i1 {condition}, {kind} {values[froms[0]]}, {kind} {values[froms[1]]}"
            rest = {source: value for source, value in values.items() if source not in froms}
            name = f"%{_FIRST_CHOICE + len(before)}{each.result[1:]}" if rest else each.result
            chosen.append(Instruction(name, text))
            if rest:
                listed = ", ".join(f"[ {value}, %{source} ]" for source, value in {**rest, label: name}.items())
                kept.append(Instruction(each.result, f"{head} {listed}"))
        held[label] = [*held[label][:-1], *computed, *chosen, Instruction("", f"br label %{after}")]
        held[after] = [*kept, *held[after][len(phis) :]]
        for at, way in enumerate(ways):
            if idle[at]:
                del held[way]
        before = _predecessors(held)


def _goes_to(held: dict[str, list[Instruction]], label: str) -> str:
    """Return where a block goes on that does nothing but compute values; "" for others."""
    body = held[label]
    plain = body[-1].text.startswith("br label ")
    if not plain or any(_acts(each.text) or each.text.startswith(("phi ", "load ", "alloca ")) for each in body[:-1]):
        return ""
    return next(successors(Block(label, tuple(body))))


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
            written = _PTX.match(each.text)
            yield written[0] if written else f"{each.text.split(' ', 1)[0]} {called[0] if called else ''}"
