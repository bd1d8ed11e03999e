"""Write a parsed kernel as assembly text again, so that a caller can check that the parser reads the text as an assembler does.

An assembler knows comments, macros and directives that the parser may misread, and inline assembly can hold any of them.
The new text has only the parsed instructions, labels and alignments; assembled, it must give the same bytes as the old one.
"""

import re

from expctl.gfx11.text.program import lines_of, parse_program

_TARGET = re.compile(r'^\s*\.amdgcn_target\s+"[\w-]+"\s*$', re.MULTILINE)
_DIRECTIVES = re.compile(r"^\s*\.amdhsa_(\w+)\s+([\w.$]+)\s*$")


def unparse(assembly: str, kernels: list[str]) -> str:
    """Return assembly text that contains only `kernels`, written from their parsed form. Raises BadLaunch for a kernel that is
    not in `assembly`, Unsupported for a line that can't be parsed.
    """
    target = _TARGET.search(assembly)
    parts = [target[0].strip() if target else "", "\t.text"]
    for name in kernels:
        program = parse_program(assembly, name)
        parts += [f"\t.globl\t{name}", "\t.p2align\t8", f"\t.type\t{name},@function", f"{name}:"]
        at: dict[int, list[str]] = {}
        for label, index in program.labels.items():
            at.setdefault(index, []).append(f"{label}:")
        for index in range(len(program.instructions) + 1):
            if index in program.alignments:
                parts.append(f"\t{program.alignments[index]}")
            parts += at.get(index, [])
            if index < len(program.instructions):
                parts.append(f"\t{program.instructions[index].text}")
        parts.append(f"\t.size\t{name}, .-{name}")
        parts += _descriptor(assembly, name)
    return "\n".join(parts) + "\n"


def _descriptor(assembly: str, name: str) -> list[str]:
    """Return the lines of the kernel's first .amdhsa_kernel block, which the interpreter uses; empty if there is none."""
    found: list[str] = []
    for line in lines_of(assembly):
        if "amdhsa_" not in line:
            continue
        match = _DIRECTIVES.match(line.split(";", 1)[0])
        if match and match[1] == "kernel" and match[2] == name:
            found = ['\t.section\t.rodata,"a",@progbits', "\t.p2align\t6, 0x0", f"\t.amdhsa_kernel {name}"]
        elif found and line.strip() == ".end_amdhsa_kernel":
            return [*found, "\t.end_amdhsa_kernel", "\t.text"]
        elif found and match:
            found.append(f"\t\t.amdhsa_{match[1]} {match[2]}")
    return []
