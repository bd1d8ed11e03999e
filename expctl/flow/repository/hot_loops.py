"""Hot loops that were counted already, of exactly the code of a commit."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from expctl.domain.protocol.model import Toolchain

if TYPE_CHECKING:
    from expctl.domain.experiment.hot_loop import HotLoop
    from expctl.domain.protocol.model import Protocol
    from expctl.ports.repository import HotLoopStore, Library


def code_of(library: Library, head: str, protocol: Protocol, name: str) -> str:
    """Return a hash of all on which the hot loop of a target at `head` depends but compiler and machine."""
    target = protocol.targets[name]
    rule = target.hot_loop
    judged = (rule.launch,) if rule is not None and target.build.toolchain is Toolchain.ZIG_GFX else protocol.harness
    files = library.identity(head, (*protocol.scope, *filter(None, judged)))
    parts = [name, files, *(msgspec.to_builtins(each) for each in (target.build, rule, target.profile))]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def known_loops(library: Library, head: str, protocol: Protocol, store: HotLoopStore | None = None) -> tuple[HotLoop, ...]:
    """Return the hot loops of the code at `head` that were counted: here (`store`), or by whoever committed the file. Of a
    target whose code has changed since that, return the committed one as stale.
    """
    asked = [name for name, target in protocol.targets.items() if target.hot_loop is not None]
    committed = library.hot_loops(head) if asked else ()
    found = []
    for name in asked:
        code = code_of(library, head, protocol, name)
        counted = store.read(code) if store is not None else None
        last = next((each for each in committed if each.target == name), None)
        if counted is None and last is not None:
            counted = replace(last, stale=last.code != code)
        found += [counted] if counted is not None else []
    return tuple(found)
