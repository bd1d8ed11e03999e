"""Finds the files of tuned products that steps would use: results of torch's TunableOp, tables of aiter."""

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from expctl.adapters.machine.linux_facts import text, word
from expctl.domain.environment.snapshot import AiterTable, TunableOpFile
from expctl.domain.environment.tuned_files import read_aiter, read_tunableop

RESULTS = "tunableop_results.csv"  # what torch calls the file, with the number of the GPU before the dot
AITER_VARIABLE = "AITER_CONFIG_"
BYTES_MOST = 64 << 20


def tunableop_files(variables: Mapping[str, str], root: Path) -> tuple[TunableOpFile, ...]:
    """Return the results files that torch would read in a step that runs in `root` with `variables`."""
    name = variables.get("PYTORCH_TUNABLEOP_FILENAME") or RESULTS
    path = root / name
    stem, dot, ending = path.name.rpartition(".")
    pattern = path.name.replace("%d", "*") if "%d" in name else f"{stem}*{dot}{ending}"
    found = sorted(path.parent.glob(pattern)) if path.parent.is_dir() else []
    return tuple(read_tunableop(_shown(file, root), _start(file)) for file in found)


def aiter_tables(variables: Mapping[str, str], folder: str) -> tuple[AiterTable, ...]:
    """Return the tables that variables name, and those that the aiter installed in `folder` ("": none) brings."""
    return (*_named(variables), *(_brought(Path(folder)) if folder else ()))


def _named(variables: Mapping[str, str]) -> Iterator[AiterTable]:
    for name in sorted(name for name in variables if name.startswith(AITER_VARIABLE)):
        yield from (read_aiter(path, _start(Path(path)), name) for path in variables[name].split(os.pathsep) if path)


def _brought(folder: Path) -> Iterator[AiterTable]:
    for file in sorted(folder.glob("configs/**/*tuned_gemm*.csv")):
        if "untuned" not in file.name:
            yield read_aiter(file.name, _start(file))


def known_validators(torch: str, arch: str, root: Path = Path("/")) -> dict[str, str]:
    """Return what TunableOp's validators are here, as far as that is known without torch: `torch` is its version, e.g.
    2.9.1+rocm7.2; `arch` is the GPU's. A torch without a suffix was built for the ROCm installed below `root`.
    """
    release = re.match(r"\d+\.\d+\.\d+", torch)
    rocm = re.search(r"\+rocm(\d+\.\d+(?:\.\d+)?)", torch) or re.match(
        r"(\d+\.\d+\.\d+)", word(root / "opt/rocm/.info/version")
    )
    found = {"PT_VERSION": release[0] if release else "", "GCN_ARCH_NAME": arch, "ROCM_VERSION": rocm[1] if rocm else ""}
    if rocm:
        major, minor = rocm[1].split(".")[:2]
        found["HIP_VERSION"] = str(100 * int(major) + int(minor))
    return {name: value for name, value in found.items() if value}


def _start(file: Path) -> str:
    return text(file) if file.is_file() and file.stat().st_size < BYTES_MOST else ""


def _shown(file: Path, root: Path) -> str:
    return str(file.relative_to(root)) if file.is_relative_to(root) else str(file)
