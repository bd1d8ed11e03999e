"""Run a kernel of a file in the gfx11 interpreter on described inputs, and report races and other faults by source line.

`launch` is for people's own tests: `from expctl import check`, then `check.launch("kernel.hip", "case.yaml")`. A name is loaded
when it is asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from expctl.check.assertion import FaultsFound, launch

__all__ = ["FaultsFound", "launch"]


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name not in __all__:
        raise AttributeError(f"expctl.check has no {name}; it has {', '.join(__all__)}")
    return getattr(import_module("expctl.check.assertion"), name)
