"""Decode v_dual: two operations in one instruction, both of which read their sources before either writes."""

from functools import partial

from expctl.gfx11.machine.arrays import Anything
from expctl.gfx11.machine.step import First, Guarded, Run
from expctl.gfx11.machine.wave import Wave
from expctl.gfx11.text.program import Instruction
from expctl.gfx11.vector.decode import bind, define

NAMES = frozenset(
    f"v_dual_{name}"
    for name in (
        "fmac_f32", "fmaak_f32", "fmamk_f32", "mul_f32", "add_f32", "sub_f32", "subrev_f32", "mov_b32", "cndmask_b32",
        "max_f32", "min_f32", "add_nc_u32", "lshlrev_b32", "and_b32",
    )
)  # fmt: skip


def decode_dual(instruction: Instruction) -> Run:
    """Return the function that executes a v_dual instruction on a wave. Raises Unsupported for an unknown operation in it."""
    halves = []
    for half in instruction.halves():
        name = half.mnemonic.replace("v_dual_", "v_", 1)
        if half.mnemonic not in NAMES:
            raise instruction.unsupported(f"unknown dual operation {half.mnemonic}")
        if name == "v_cndmask_b32" and half.rest.count(",") == 2:
            half = Instruction(line=half.line, mnemonic=half.mnemonic, rest=f"{half.rest}, vcc_lo")  # noqa: PLW2901
        halves.append(bind(half, name))
    x, y = halves
    write_x, write_y = x.writes[0], y.writes[0]
    keys = frozenset((*x.read_keys, *x.write_keys, *y.read_keys, *y.write_keys))

    def results(wave: Wave) -> tuple[Anything, Anything]:
        return x.evaluate(wave)[0].copy(), y.evaluate(wave)[0].copy()

    def plain(wave: Wave) -> None:
        first, second = results(wave)
        write_x(wave, first)
        write_y(wave, second)

    def careful(wave: Wave) -> None:
        wave.check_waited(instruction.line, keys)
        undefined = x.undefined(wave), y.undefined(wave)
        for half, bits in zip((x, y), undefined, strict=True):
            half.marks[0](wave, bits)
        plain(wave)

    whole = x.whole | y.whole if x.whole is not None and y.whole is not None else None
    first = First(frozenset((*x.read_keys, *y.read_keys)), partial(define, (x.marks[0], y.marks[0])), whole)
    return Guarded(keys, plain, careful, by_lane=True, first=first)
