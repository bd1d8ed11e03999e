"""The contract of docs/HARNESS.md in ten lines: say what a kernel takes and must give; `serve` tests, times and profiles it.

A name is loaded when it is asked for, and numpy when `serve` begins to work. Nothing else of expctl is needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from expctl.harness.c_library import CLibrary
    from expctl.harness.kernel import Kernel
    from expctl.harness.libraries import CupySource, TorchLibrary, TorchSource
    from expctl.harness.mistake import Mistake
    from expctl.harness.report import BuildFailed, Fault
    from expctl.harness.script import serve

__all__ = ["BuildFailed", "CLibrary", "CupySource", "Fault", "Kernel", "Mistake", "TorchLibrary", "TorchSource", "serve"]

_HOMES = {
    "BuildFailed": "report",
    "CLibrary": "c_library",
    "CupySource": "libraries",
    "Fault": "report",
    "Kernel": "kernel",
    "Mistake": "mistake",
    "TorchLibrary": "libraries",
    "TorchSource": "libraries",
    "serve": "script",
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name not in _HOMES:
        raise AttributeError(f"expctl.harness has no {name}; it has {', '.join(__all__)}")
    import_module("expctl.harness.uncaught").report_what_ends_the_script()
    return getattr(import_module(f"expctl.harness.{_HOMES[name]}"), name)
