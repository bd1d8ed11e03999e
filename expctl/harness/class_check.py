"""Looks at the class that an author wrote, before anything is called."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Mapping
from typing import Any

from expctl.harness.kernel import Kernel
from expctl.harness.mistake import Mistake, place_of

REQUIRED = ("inputs", "call", "reference")
LIKE = 0.75


def check_class(kernel: Any) -> None:
    """Raise Mistake unless `kernel` is a class derived from Kernel that says all it must, with the right parameters."""
    if not isinstance(kernel, type) or not issubclass(kernel, Kernel):
        raise Mistake("serve(Dot) with a class derived from Kernel", f"serve({kernel!r})"[:80])
    for name in vars(kernel):
        _check_spelling(kernel, name)
    for name in REQUIRED:
        if getattr(kernel, name) is getattr(Kernel, name):
            raise Mistake(f"a method {name} in class {kernel.__name__}", "none", place_of(kernel, ""))
    _check_sizes(kernel)
    for name in ("rel_l2", "max_abs"):
        limit = getattr(kernel, name)
        if limit is not None and (not isinstance(limit, int | float) or not limit >= 0):
            raise Mistake(f"{name} as a number of at least 0, such as 1e-6", repr(limit), place_of(kernel, name))
    if kernel.library is not None and not hasattr(kernel.library, "load"):
        found = repr(kernel.library)[:60]
        raise Mistake('library = CLibrary(name="signature"), or none for Python', found, place_of(kernel, "library"))
    if kernel.device not in ("", "cuda", "hip"):
        raise Mistake(
            "device as cuda or hip; none for arrays of torch and cupy", repr(kernel.device), place_of(kernel, "device")
        )
    for size in {**kernel.sizes, **kernel.test_sizes}.values():
        for name, words in (("inputs", (None, None)), ("outputs", (None,))):
            _check_parameters(kernel, name, words, size)


def check_arguments(kernel: type[Kernel], name: str, count: int) -> None:
    """Raise Mistake unless the method `name` takes `count` arguments."""
    _check_parameters(kernel, name, (None,) * (count + 1), {})


def _check_spelling(kernel: type[Kernel], name: str) -> None:
    ours = [each for each in vars(Kernel) if not each.startswith("_")]
    near = difflib.get_close_matches(name.lower(), ours, n=1, cutoff=LIKE)
    if near and name not in ours and not name.startswith("_") and near[0] not in vars(kernel):
        raise Mistake(f"the name {near[0]}", name, place_of(kernel, name))


def _check_sizes(kernel: type[Kernel]) -> None:
    for attribute in ("sizes", "test_sizes"):
        sizes: Any = getattr(kernel, attribute)
        fits = isinstance(sizes, Mapping) and all(
            isinstance(name, str) and isinstance(words, Mapping) for name, words in sizes.items()
        )
        if not fits or (attribute == "sizes" and not sizes):
            found = "none" if not sizes else repr(sizes)[:60]
            raise Mistake(f'{attribute} as {{"n=1024": dict(n=1024)}}', found, place_of(kernel, attribute))


def _check_parameters(kernel: type[Kernel], name: str, words: tuple[Any, ...], named: Mapping[str, Any]) -> None:
    signature = inspect.signature(getattr(kernel, name))
    try:
        signature.bind(*words, **named)
    except TypeError as error:
        given = ", ".join(["self", *["rng"][: name == "inputs"], *named]) if named else f"self and {len(words) - 1} arguments"
        place = place_of(kernel, name)
        raise Mistake(f"{name}({given})", f"{name}{signature}: {error}", place) from error
