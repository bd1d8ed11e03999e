"""Read a cache folder of Triton: every kernel that it compiled, by the machine code that would be launched."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from expctl.domain.errors import Refused
from expctl.inspection.readers.code_identity import code_hash
from expctl.inspection.readers.code_object import CodeObject, parse_code_object
from expctl.inspection.readers.cubin import is_cubin, parse_cubin

BINARIES, TEXTS = (".cubin", ".hsaco"), (".ptx", ".amdgcn")
LAUNCH_KEYS = ("name", "target", "num_warps", "num_ctas", "cluster_dims", "shared", "warp_size", "maxnreg")
GROUP = "__grp__"


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledKernel:
    """One kernel as Triton compiled it for one signature. `binary` is what a GPU runs, `text` the PTX or assembly before it, if
    there is one. `identity` is a hash of the code and of how it is launched; lines and paths of the source are not in it.
    """

    name: str
    binary: Path
    text: Path | None
    threads: int
    shared_bytes: int
    identity: str

    @property
    def figures(self) -> Mapping[str, int]:
        """Registers, memory and code bytes of the kernel, by the names that a build's facts have."""
        found = self.parsed()
        kernel = next((each for each in found.kernels if each.name == self.name), found.kernels[0])
        if found.arch.startswith("sm_"):
            named = {"registers": kernel.vgpr, "local": kernel.scratch_bytes, "shared": self.shared_bytes}
        else:
            named = {"vgpr": kernel.vgpr, "sgpr": kernel.sgpr, "scratch": kernel.scratch_bytes, "lds": self.shared_bytes}
            named |= {"vgpr_spills": kernel.vgpr_spills, "sgpr_spills": kernel.sgpr_spills}
        return {**named, "code": kernel.code_bytes or 0}

    def parsed(self) -> CodeObject:
        """Return the contents of `binary`. Raises Refused for a damaged file."""
        data = self.binary.read_bytes()
        return parse_cubin(data, str(self.binary)) if is_cubin(data) else parse_code_object(data, str(self.binary))


def compiled_kernels(folder: Path) -> tuple[CompiledKernel, ...]:
    """Return what Triton compiled into `folder` (TRITON_CACHE_DIR) or one folder of it, in an order that keys don't change."""
    described = [file for file in sorted(folder.rglob("*.json")) if not file.name.startswith(GROUP)]
    found = [kernel for file in described if (kernel := _kernel(file)) is not None]
    return tuple(sorted(found, key=lambda each: (each.name, each.identity)))


def _kernel(described: Path) -> CompiledKernel | None:
    binary, text = (_beside(described, endings) for endings in (BINARIES, TEXTS))
    try:
        facts = json.loads(described.read_bytes())
    except ValueError:
        return None
    if binary is None or not isinstance(facts, dict) or not isinstance(facts.get("name"), str):
        return None
    launch = json.dumps({key: facts.get(key) for key in LAUNCH_KEYS}, sort_keys=True)
    return CompiledKernel(
        name=facts["name"],
        binary=binary,
        text=text,
        threads=_number(facts, "num_warps", 4) * _number(facts, "warp_size", 32),
        shared_bytes=_number(facts, "shared", 0),
        identity=hashlib.sha256(f"{launch} {code_hash(binary)}".encode()).hexdigest(),
    )


def _beside(file: Path, endings: tuple[str, ...]) -> Path | None:
    return next((path for ending in endings if (path := file.with_suffix(ending)).is_file()), None)


def _number(facts: Mapping[str, Any], key: str, default: int) -> int:
    value = facts.get(key)
    return value if isinstance(value, int) and value >= 0 else default


def no_kernels(where: str) -> Refused:
    """Return the error, not raised, that the folder `where` is no cache of Triton."""
    return Refused(
        "Triton compiled no kernel into this folder",
        code="no-triton-cache",
        expected="NAME.json beside NAME.cubin or NAME.hsaco, in this folder or below it",
        found="none",
        where=where,
        hint="set TRITON_CACHE_DIR to a folder, run the kernel once, and give that folder",
    )
