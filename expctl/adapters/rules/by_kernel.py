"""What a module of CUDA's device code computes, each kernel optimised by itself: several at a time, and none that was before.

A kernel is known by its text before the optimiser, which is the same wherever it is made of the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Event, Lock
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from expctl.adapters.rules.readings import code, hashed
from expctl.adapters.rules.workplaces import AT_A_TIME
from expctl.domain.rules.meaning import Compiled, View
from expctl.files.cache_folder import CacheFolder

if TYPE_CHECKING:
    from pathlib import Path

    from expctl.adapters.rules.readings import Readings
    from expctl.adapters.rules.workplaces import Workplaces

SOURCE = "kernel.ll"
LISTING = "{out}/listing"


class Apart(Struct, frozen=True):
    """The kernels of a module before the optimiser, each as the text of a module; which are one of each kind."""

    kernels: Mapping[str, str] = {}
    of_each_kind: tuple[str, ...] = ()


class ByKernel:
    """Optimises and reads kernels in `workplaces`, and keeps them below `state`; `brought` returns what a commit has of one."""

    def __init__(
        self, state: Path, workplaces: Workplaces, readings: Readings, brought: Callable[[str], Compiled | None]
    ) -> None:
        self._workplaces = workplaces
        self._readings = readings
        self._brought = brought
        self.kept = CacheFolder(state / "kernels", prefix=f"{code()}.")
        self._lock = Lock()
        self._under_way: dict[str, Event] = {}

    def compiled(
        self, modules: Mapping[str, str], command: Sequence[str], words: Sequence[object], *, timeout_s: float
    ) -> Compiled | None:
        """Return what `modules`, kernel -> text, are after `command`, which is known by `words`: it writes what it makes of the
        file SOURCE to LISTING. None if it fails for one of them.
        """
        names = {kernel: hashed(text, *words) for kernel, text in modules.items()}
        found = {name: held for name in dict.fromkeys(names.values()) if (held := self._known(name)) is not None}
        missing = {names[kernel]: text for kernel, text in modules.items() if names[kernel] not in found}
        found |= self._made_once(missing, command, timeout_s)
        each_of = [found[name] for name in names.values() if name in found]
        if len(each_of) < len(names):
            return None
        return Compiled(
            functions={key: whole for each in each_of for key, whole in each.functions.items()},
            parts={name: parts for each in each_of for name, parts in each.parts.items()},
        )

    def _known(self, name: str) -> Compiled | None:
        held = self.kept.get(name)
        return msgspec.json.decode(held, type=Compiled) if held is not None else self._brought(name)

    def _made_once(self, texts: Mapping[str, str], command: Sequence[str], timeout_s: float) -> Mapping[str, Compiled]:
        """Make and keep what no other thread is making, and wait for the rest. What can't be made is left out."""
        with self._lock:
            others = {name: self._under_way[name] for name in texts if name in self._under_way}
            own = {name: Event() for name in texts if name not in others}
            self._under_way |= own
        try:
            made = self._made({name: texts[name] for name in own}, command, timeout_s) or {}
            for name, each in made.items():
                self.kept.put(name, msgspec.json.encode(each))
        finally:
            with self._lock:
                for name, done in own.items():
                    del self._under_way[name]
                    done.set()
        for done in others.values():
            done.wait()
        return {**made, **{name: held for name in others if (held := self._known(name)) is not None}}

    def _made(self, texts: Mapping[str, str], command: Sequence[str], timeout_s: float) -> Mapping[str, Compiled] | None:
        def optimised(text: str) -> bytes | None:
            with self._workplaces.tree({SOURCE: text.encode(errors="surrogateescape")}) as (tree, out):
                words = [word.replace("{out}", str(out)) for word in command]
                said = self._workplaces.fails(words, tree, out, timeout_s=timeout_s)
                return (out / "listing").read_bytes() if not said else None

        order = sorted(texts, key=lambda name: -len(texts[name]))  # what takes longest is not waited for last
        with ThreadPoolExecutor(AT_A_TIME) as pool:
            listings = {
                name: made for name, made in zip(order, pool.map(optimised, map(texts.__getitem__, order)), strict=True) if made
            }
        if len(listings) < len(order):
            return None
        if not order:
            return {}
        with self._workplaces.tree(listings) as (tree, out):
            answer = self._readings.read(View.MEANING, tree, tree, out, timeout_s=timeout_s)
        return msgspec.json.decode(answer, type=dict[str, Compiled])
