"""Colours of a profile on a terminal: headings bold, notes faint, each class of kernels in a colour of its own."""

import re

from expctl.profiles.model.kernel_profile import KernelClass

BOLD, FAINT = "1", "2"
_OF_CLASS = {
    KernelClass.GEMM: "34", KernelClass.ATTENTION: "35", KernelClass.COMMUNICATION: "31", KernelClass.NORMALISATION: "32",
    KernelClass.REDUCTION: "92", KernelClass.COPY: "33", KernelClass.ELEMENTWISE: "36", KernelClass.OTHER: "90",
    KernelClass.CONVOLUTION: "94", KernelClass.EMBEDDING: "95", KernelClass.FFT: "96",
}  # fmt: skip
_CLASS = re.compile(rf"(?<=  )(?:{'|'.join(_OF_CLASS)})(?=  )")
_HEADING = re.compile(r" *(?:class|calls|share)  ")


def painted(line: str) -> str:
    """Return a line of `profile show` with colours; without them it is the same text."""
    if _HEADING.match(line):
        return _in(BOLD, line)
    if line.startswith("  note  "):
        return _in(FAINT, line)
    return _CLASS.sub(lambda found: _in(_OF_CLASS[KernelClass(found[0])], found[0]), line)


def _in(code: str, text: str) -> str:
    return f"\x1b[{code}m{text}\x1b[0m"
