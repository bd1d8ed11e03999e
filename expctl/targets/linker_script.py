"""Linker scripts that place the same machine code elsewhere: functions in another order and at other addresses."""

import random
import re
from collections.abc import Sequence
from pathlib import Path

CACHE_LINE = 64
STEP = 16  # bytes: compilers align loops to 16, and no patch moves them by less
PAD_LINES = 64  # a page
PLAIN = re.compile(r"\.text(\.[\w.$@-]+)?", re.ASCII)  # a name that a script can quote; other sections stay together at the end


def text_sections(file: Path) -> tuple[str, ...]:
    """Return the names of the sections with functions (.text, .text.NAME) in an object file; () if it isn't ELF."""
    from elftools.common.exceptions import ELFError
    from elftools.elf.constants import SH_FLAGS
    from elftools.elf.elffile import ELFFile

    try:
        with open(file, "rb") as opened:
            found = [
                section.name
                for section in ELFFile(opened).iter_sections()
                if section["sh_flags"] & SH_FLAGS.SHF_EXECINSTR and section["sh_size"]
            ]
    except ELFError:
        return ()
    return tuple(dict.fromkeys(name for name in found if PLAIN.fullmatch(name)))


def place_sections(names: Sequence[str], layout: int) -> str:
    """Return a linker script that places the sections `names` in a random order, the same each time for equal `layout`.

    Each section begins 16 x `layout` modulo 64 bytes behind the start of a cache line (64 bytes), so that layouts 1 to 4 try
    all four offsets. Up to 63 empty cache lines precede the first section. Other sections stay where the linker puts them.
    """
    draw = random.Random(layout)  # noqa: S311  an order that is the same each time
    order = list(names)
    draw.shuffle(order)
    start = f"    . = ALIGN({CACHE_LINE}) + {STEP * layout % CACHE_LINE};\n"
    placed = "".join(f'{start}    *("{name}")\n' for name in order)
    pad = CACHE_LINE * draw.randrange(PAD_LINES)
    body = f"    . += {pad};\n{placed}{start}    *(.text .text.*)\n"
    return f"SECTIONS\n{{\n  .text : ALIGN({CACHE_LINE}) SUBALIGN({STEP})\n  {{\n{body}  }}\n}} INSERT AFTER .dynstr;\n"
