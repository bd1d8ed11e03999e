"""The contract of docs/HARNESS.md in ten lines: say what a kernel takes and must give, and `serve` tests, times and profiles it.

Needs numpy, which is loaded when `serve` begins to work, and nothing else of expctl.
"""

from expctl.harness.bindings import CLibrary, CupySource, TorchLibrary, TorchSource
from expctl.harness.kernel import Kernel
from expctl.harness.mistake import Mistake
from expctl.harness.report import BuildFailed, Fault, Report
from expctl.harness.script import serve

__all__ = [
    "BuildFailed",
    "CLibrary",
    "CupySource",
    "Fault",
    "Kernel",
    "Mistake",
    "Report",
    "TorchLibrary",
    "TorchSource",
    "serve",
]
