"""Time this kernel beside what torch users would take instead, in one process and in turns, and list the kernels of each.

    python kernel/rivals/benchmark_rivals.py --target cpu --sizes 512,384
    python kernel/rivals/benchmark_rivals.py --target sm_90 --sizes 8192,32x12288x2048 --out rivals

On a GPU each is replayed from a CUDA graph, so that no host is timed; on a CPU one thread works. Inputs are random and change
from product to product. With --out it writes rivals.json there, and the profiler's files that it names (docs/RIVALS.md).
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

if not __package__:  # run by path: the checkout this file lies in comes first
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from expctl.harness.report import Report
from kernel.runtime.build import BuildError
from kernel.runtime.library import LaunchError, LibraryError, UnknownConfig

if TYPE_CHECKING:
    import torch

    from kernel.rivals.comparison import Entry
    from kernel.rivals.operands import Size

MISSING = "torch is not installed here: pip install 'expctl[torch]' for a CPU, for a GPU the torch that fits it (pytorch.org)"


def compare(options: argparse.Namespace, device: torch.device, sizes: list[Size], out: Path, report: Report) -> int:
    """Compare at every size, print tables, write rivals.json below `out`; return the exit status."""
    from kernel.rivals.comparison import Comparison

    words = ["--target", options.target]
    words += ["--artifact", str(options.artifact)] if options.artifact else []
    comparison = Comparison(device, out, Path(__file__).resolve(), words)
    found = []
    for size in sizes:
        entries = comparison.at(size, options.rounds)
        show(report, size, entries)
        found.append({"name": size.name, "flop": size.flop, "entries": [asdict(each) for each in entries]})
    told = {"environment": environment(device), "sizes": found}
    (out / "rivals.json").write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    return report.end()


def show(report: Report, size: Size, entries: list[Entry]) -> None:
    """Print a table of one size."""
    ours = statistics.median(entries[0].ns) if entries[0].ns else 0.0
    report.say(f"{size.name:40s} {'median ms':>10s} {'GFLOP/s':>10s} {'ours is':>8s}")
    for each in entries:
        if each.absent:
            report.say(f"  {each.name:38s} {each.absent}")
            continue
        ns = statistics.median(each.ns)
        report.say(f"  {each.name:38s} {ns / 1e6:10.4f} {size.flop / ns:10.1f} {ns / ours if ours else 0:7.2f}x")


def environment(device: torch.device) -> dict[str, str]:
    """Return what the times depend on besides the machine."""
    import torch

    found = {"torch": torch.__version__, "threads": str(torch.get_num_threads())}
    if device.type == "cuda":
        matmul = torch.backends.cuda.matmul
        found |= {
            "device": torch.cuda.get_device_name(device),
            "runtime": f"hip {torch.version.hip}" if torch.version.hip else f"cuda {torch.version.cuda}",
            "fp16 reduction": "reduced precision allowed" if matmul.allow_fp16_reduced_precision_reduction else "full",
            "blas": str(torch.backends.cuda.preferred_blas_library()),
        }
    return found


def code_objects(device: torch.device, size: Size) -> None:
    """Print as JSON in which code object the kernel of the library's product lies."""
    from kernel.rivals.code_object import of_library_product
    from kernel.rivals.operands import draw

    operands = draw(size, device, 0)[0]
    print(json.dumps(of_library_product(operands.a_decoded, operands.b_decoded)))


def main() -> int:
    """Run the script; return the exit status."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--target", choices=("cpu", "sm_90", "gfx1151"), default="cpu")
    arguments.add_argument("--artifact", type=Path, help="the build to use; without it, this checkout is built")
    arguments.add_argument("--sizes", default="512", help="n or m x n x k, such as 4096,32x12288x2048")
    arguments.add_argument("--rounds", type=int, default=21, help="turns of each (default: %(default)s)")
    arguments.add_argument("--out", type=Path, help="an empty folder for rivals.json and profiles")
    arguments.add_argument("--only", help="compute the products of this one, for a profiler")
    arguments.add_argument("--code-objects", action="store_true", help="say in which code object the library's kernel lies")
    options = arguments.parse_args()
    report = Report()
    try:
        return run(options, report)
    except ModuleNotFoundError as error:
        return report.fault(MISSING if error.name == "torch" else str(error))
    except (BuildError, LibraryError, LaunchError, UnknownConfig, ValueError) as error:
        return report.fault(str(error))


def run(options: argparse.Namespace, report: Report) -> int:
    """Do what `options` ask; return the exit status. Raises ModuleNotFoundError without torch, and what the operator raises."""
    import torch

    from kernel.rivals.comparison import Comparison
    from kernel.rivals.operands import Size

    if options.target != "cpu" and not torch.cuda.is_available():
        return report.fault(f"torch {torch.__version__} finds no GPU here: install the one that fits it (pytorch.org)")
    if options.artifact:
        os.environ["EXPCTL_KERNEL_LIBRARY"] = str(options.artifact)
    torch.set_num_threads(1)
    device = torch.device("cpu") if options.target == "cpu" else torch.device("cuda", 0)
    sizes = [Size.parse(word) for word in options.sizes.split(",")]
    if options.only:
        Comparison(device, Path(), Path(), ()).only(options.only, sizes[0])
        return 0
    if options.code_objects:
        code_objects(device, sizes[0])
        return 0
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
        return compare(options, device, sizes, options.out, report)
    with tempfile.TemporaryDirectory() as folder:
        return compare(options, device, sizes, Path(folder), report)


if __name__ == "__main__":
    sys.exit(main())
