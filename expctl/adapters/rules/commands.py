"""Commands of compilers: as they are started here, and in the words that are the same wherever they are."""

import importlib.util
import platform
from collections.abc import Sequence
from functools import cache
from pathlib import Path

PROCESSOR = ("vendor_id", "cpu family", "model", "flags", "CPU implementer", "CPU part", "Features")


def at_once(command: Sequence[str]) -> Sequence[str]:
    """Return a command that Python would only hand on to the program of the ziglang wheel as one that starts that program."""
    found = importlib.util.find_spec("ziglang") if tuple(command[:3]) == ("{python}", "-m", "ziglang") else None
    program = Path(found.origin).parent / "zig" if found is not None and found.origin is not None else None
    return (str(program), *command[3:]) if program is not None and program.is_file() else command


def anywhere(command: Sequence[str]) -> tuple[str, ...]:
    """Return a command as it would be on any machine: without the folders in which this package and that of ziglang are, with
    the version of ziglang, if it is that which is called, and the processor that `-march=native` stands for.
    """
    found = {name: importlib.util.find_spec(name) for name in ("ziglang", "expctl")}
    folders = {name: str(Path(spec.origin).parent) for name, spec in found.items() if spec is not None and spec.origin}
    version = _installed(Path(folders["ziglang"])) if "ziglang" in command and "ziglang" in folders else ()
    for name, folder in folders.items():
        command = [word.replace(folder, f"{{{name}}}") for word in command]
    return (*command, *version, *(_processor() if any(word.endswith("=native") for word in command) else ()))


@cache
def _installed(folder: Path) -> tuple[str, ...]:
    """Return the version of a package in `folder`, by the name of what pip keeps beside it."""
    return tuple(sorted(each.name for each in folder.parent.glob(f"{folder.name}-*.dist-info")))


@cache
def _processor() -> tuple[str, ...]:
    """Return what the kernel says of the processor and of what it can do; the architecture alone where it says nothing."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    said = (line.split(":", 1) for line in lines if ":" in line)
    kinds = dict.fromkeys(" ".join((name.strip(), *value.split())) for name, value in said if name.strip() in PROCESSOR)
    return (platform.machine(), *kinds)
