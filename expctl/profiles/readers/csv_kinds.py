"""Recognise what a profiler's CSV table contains, from its column heads, and for statistics also from names in its rows."""

import re
from collections.abc import Collection, Iterable
from enum import StrEnum


class CsvKind(StrEnum):
    """Kinds of profilers' CSV tables that expctl reads."""

    TRACE = "kernel trace"
    COUNTERS = "counter collection"
    STATISTICS = "statistics"
    AGENTS = "agent info"
    COPIES = "memory copy trace"
    NCU_RAW = "ncu raw page"
    NCU_DETAILS = "ncu details page"


TIMES = ("start_timestamp", "end_timestamp")
TOTALS = ("totaldurationns", "duration (nsec)", "total_duration", "totalduration")

_READ: tuple[tuple[CsvKind, tuple[tuple[str, ...], ...]], ...] = (
    (CsvKind.COUNTERS, (("kernel_name",), ("counter_name",), ("counter_value",))),
    (CsvKind.TRACE, (("kernel_name",), *((each,) for each in TIMES))),
    (CsvKind.NCU_DETAILS, (("id",), ("kernel name",), ("metric name",), ("metric value",))),
    (CsvKind.AGENTS, (("node_id",), ("agent_type",))),
    (CsvKind.COPIES, (("direction",), *((each,) for each in TIMES))),
    (CsvKind.STATISTICS, (("name",), ("calls",), TOTALS)),
)
# Tables that are recognised only to say what to do: (column heads, what the table is, advice).
_NOT_READ: tuple[tuple[tuple[str, ...], str, str], ...] = (
    (("domain", "function"), "an API trace (the host's calls, no kernels)", "give kernel_trace.csv of the run, or its folder"),
    (("codeobj", "vaddr", "hitcount"), "instruction statistics of a thread trace", "give the kernel_trace.csv of the same run"),
    (("sample_timestamp", "exec_mask"), "PC samples (where waves stood, no times)", "profile with rocprofv3 --kernel-trace"),
    (("allocation_size", "address"), "a memory allocation trace", "give the kernel_trace.csv of the same run"),
    (("operation", "alloc_flags"), "a scratch memory trace", "give the kernel_trace.csv of the same run"),
    (("kernelname", "gpu-id"), "the table of rocprof v1, which is not read", "profile with rocprofv3 --kernel-trace"),
    (("kernel_name", "gpu_id"), "a table of rocprof v2 or rocprof-compute, not read", "profile with rocprofv3 --kernel-trace"),
    (("dispatch_id", "arch_vgpr"), "a table of rocprof-compute, not read", "profile with rocprofv3 --kernel-trace"),
    (("workload_name", "command"), "facts of rocprof-compute about a machine", "profile with rocprofv3 --kernel-trace"),
    (("metric name", "invocations"), "Nsight Compute metrics summed over kernels", "ncu --import REPORT --csv --page raw"),
    (("#", "source"), "the source page of Nsight Compute", "ncu --import REPORT --csv --page raw"),
    (("time (%)", "instances"), "a printed summary of nsys", "nsys export --type sqlite REPORT, and give that"),
    (("start (ns)", "corrid"), "a printed trace of nsys", "nsys export --type sqlite REPORT, and give that"),
    (("metric name", "metric value"), "Nsight Compute metrics summed over kernels", "ncu --import REPORT --csv --page raw"),
)  # fmt: skip
# API calls are bare words, so `hipX(int)` is a kernel; names of RCCL's kernels begin like its calls and are excluded.
_API = re.compile(
    r"(hip[A-Z]|__hip|nccl(?!DevKernel|Kernel)[A-Z]|mscclpp?[A-Z])\w*|(hsa_|roctx|rocDec|rocJpeg|omp_|KFD_|kfd_).*", re.DOTALL
)
_DOMAIN = re.compile(
    r"(KERNEL_DISPATCH|HIP_\w+|HSA_\w+|MARKER_\w+|MEMORY_COPY|MEMORY_ALLOCATION|SCRATCH_MEMORY|RCCL_API|ROCDECODE_\w+|ROCJPEG_\w+)"
)
_COPY = re.compile(r"MEMORY_COPY_\w+|\w+_TO_(HOST|DEVICE)")


_ROCPROF_V1 = {"name", "calls", "totaldurationns", "averagens", "percentage"}
"""All columns of rocprof v1's statistics; those of rocprofv3 also have minimum and maximum."""
_NSYS_SAYS = ("processing [", "generating sqlite file")
"""First words of the lines that `nsys stats` prints before its tables."""


def csv_kind(heads: Collection[str]) -> CsvKind | None:
    """Return the kind of a table with the column heads `heads` (lower case); None where expctl reads no such table."""
    if set(heads) == _ROCPROF_V1:
        return None
    if "gpu_id" in heads and "node_id" not in heads:
        return None  # rocprof v2 and rocprof-compute write the columns of a kernel trace too
    for kind, wanted in _READ:
        if all(any(name in heads for name in names) for names in wanted):
            return kind
    if "id" in heads and "kernel name" in heads and any("__" in head for head in heads):
        return CsvKind.NCU_RAW
    return None


def why_not(heads: Collection[str]) -> tuple[str, str] | None:
    """Return (what a table is, advice) for a known kind that expctl doesn't read; else None. `heads` are in lower case."""
    if set(heads) == _ROCPROF_V1:
        return "statistics of rocprof v1, which are not read", "profile with rocprofv3 --kernel-trace"
    if any(head.startswith(_NSYS_SAYS) for head in heads):
        return "what nsys prints", "nsys export --type sqlite REPORT, and give that"
    for wanted, what, hint in _NOT_READ:
        if all(name in heads for name in wanted):
            return what, hint
    return None


def why_not_kernels(names: Iterable[str]) -> str:
    """Return what a statistics table is about instead of kernels, e.g. `API calls`; "" if it is about kernels. `names` are the
    names in its rows.
    """
    seen = list(names)
    for pattern, what in ((_DOMAIN, "whole domains"), (_API, "API calls"), (_COPY, "memory copies")):
        if seen and all(pattern.fullmatch(name) for name in seen):
            return what
    return ""
