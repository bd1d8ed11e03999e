"""Find the GPUs in an nsys database. A kernel names its GPU by a CUDA device number, which each process counts from 0."""

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass

from expctl.profiles.model.kernel_profile import Device
from expctl.profiles.readers.sqlite_file import columns
from expctl.profiles.roofline.peaks import arch_of

GPUS, NUMBERS = "TARGET_INFO_GPU", "TARGET_INFO_CUDA_DEVICE"


@dataclass(frozen=True, slots=True, kw_only=True)
class NsysDevices:
    """GPUs by nsys's id of the GPU; `numbers` maps (process id, CUDA device number) to this id. `numbers` is None where the
    database lacks that table.
    """

    gpus: Mapping[int, Device]
    numbers: Mapping[tuple[int, int], int] | None

    def name_of(self, number: object, process: object) -> str:
        """Return a name for the GPU of a kernel, whose row has the CUDA device number `number` and the globalPid `process`."""
        if self.numbers is None or not isinstance(number, int) or not isinstance(process, int):
            return f"device {number}"
        pid = pid_of(process)
        gpu = self.numbers.get((pid, number))
        return f"device {number} of process {pid}" if gpu is None else f"device {gpu}"

    def numbers_are_unique(self, processes: int) -> bool:
        """Return whether a CUDA device number identifies the GPU; `processes` is the number of processes in the database. It
        does if the database maps numbers to GPUs, or has at most one process and one GPU.
        """
        return self.numbers is not None or (processes < 2 and len(self.gpus) < 2)


def pid_of(process: int) -> int:
    """Return the operating system's process id, which nsys stores in bits 24 to 47 of a globalPid (`process`)."""
    return process >> 24 & 0xFFFFFF


def read_devices(database: sqlite3.Connection, names: tuple[str, ...]) -> NsysDevices:
    """Return the GPUs in an nsys database whose tables are `names`, and how its processes number them."""
    numbers = None
    if NUMBERS in names and {"gpuid", "cudaid", "pid"} <= columns(database, NUMBERS).keys():
        rows = database.execute(f"SELECT pid, cudaId, gpuId FROM {NUMBERS} WHERE gpuId IS NOT NULL")  # noqa: S608  constant
        numbers = {(pid, number): gpu for pid, number, gpu in rows}
    return NsysDevices(gpus=_gpus(database) if GPUS in names else {}, numbers=numbers)


def _gpus(database: sqlite3.Connection) -> dict[int, Device]:
    have = list(columns(database, GPUS))
    found = {}
    for row in database.execute(f"SELECT * FROM {GPUS}"):  # noqa: S608  a constant name
        facts = dict(zip(have, row, strict=True))
        major, minor = facts.get("computemajor"), facts.get("computeminor")
        product = str(facts.get("name") or "")
        units, clock = facts.get("smcount"), facts.get("clockrate")
        found[facts.get("id", 0)] = Device(
            name=f"device {facts.get('id', 0)}",
            arch=f"sm_{major}{minor}" if isinstance(major, int) and isinstance(minor, int) else arch_of(product),
            product=product,
            units=units if isinstance(units, int) and units > 0 else None,
            clock_mhz=clock // 1_000_000 if isinstance(clock, int) and clock >= 1_000_000_000 // 10 else None,
        )
    return found
