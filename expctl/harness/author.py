"""Calls what an author wrote, looks at what comes back, and says which line is to be mended."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from expctl.harness import arrays
from expctl.harness.c_library import CBuild
from expctl.harness.class_check import check_arguments
from expctl.harness.kernel import Kernel
from expctl.harness.mistake import Mistake, Place, file_of, frames, place_of
from expctl.harness.package_seeds import seed_packages
from expctl.harness.report import BuildFailed, Fault

HARNESS_ERRORS = (TypeError, AttributeError, NameError, ImportError, LookupError, AssertionError, SyntaxError)
"""Raised by a line of the author's own file, these are the author's; anything else there came out of the build."""
EXACT = ("float64", "complex128", "longdouble", "float128", "complex256")
Values = tuple[Any, ...]


class Author:
    """One kernel and one build of it. Each method raises Mistake for what the author got wrong, BuildFailed for the build."""

    def __init__(self, kernel: type[Kernel], artifact: Path) -> None:
        self.kernel_class, self.artifact = kernel, artifact
        with self.blaming("__init__"):
            self.kernel = kernel()
        self.sizes = {**kernel.test_sizes, **kernel.sizes}
        with self.blaming("load" if kernel.load is not Kernel.load else "library"):
            self.build = self.kernel.load(artifact)
        self.prepare: Callable[[Values], None] = self.build.prepare if isinstance(self.build, CBuild) else lambda _: None

    # ------------------------------------------------------------------ inputs and outputs

    def draw(self, size: str, seed: int, number: int) -> Values:
        """Return the inputs of call `number` at `size`."""
        entropy = [seed, zlib.crc32(size.encode()), number]
        seed_packages(entropy)
        with self.blaming("inputs"):
            drawn = self.kernel.inputs(np.random.default_rng(entropy), **self.sizes[size])
        drawn = (drawn,) if arrays.family(drawn) else drawn
        if not isinstance(drawn, tuple | list) or not drawn:
            raise self.mistake("inputs", "an array, or a tuple of inputs: `return x, y`", arrays.described(drawn))
        return tuple(drawn)

    def outputs(self, size: str) -> Values:
        """Return the arrays that a call writes into; () where it returns its result."""
        with self.blaming("outputs"):
            made = self.kernel.outputs(**self.sizes[size])
        made = (made,) if arrays.family(made) else made
        if not isinstance(made, tuple | list):
            raise self.mistake("outputs", "an empty array, or a tuple of them: `return np.empty(n)`", arrays.described(made))
        for each in made:
            if not arrays.family(each) or not arrays.is_contiguous(each):
                raise self.mistake("outputs", "contiguous arrays of numpy, torch or cupy", arrays.described(each))
        return tuple(made)

    def examine(self, size: str, seed: int) -> Values:
        """Draw the inputs of `size` and look whether they can be used and follow the seed; return them."""
        drawn, again, other = self.draw(size, seed, 0), self.draw(size, seed, 0), self.draw(size, seed + 1, 1)
        for number, each in enumerate(drawn, 1):
            self._check_input(number, each)
        if len(drawn) != len(again) or not all(map(arrays.same_bits, drawn, again)):
            expected = "the same inputs for the same rng: all chance from `rng`"
            raise self.mistake("inputs", expected, "other ones at the second draw, as from numpy.random, random or a clock")
        if len(drawn) == len(other) and all(map(arrays.same_bits, drawn, other)):
            raise self.mistake("inputs", "other inputs for another seed: drawn from `rng`", "the same ones for two seeds")
        check_arguments(self.kernel_class, "call", 1 + len(drawn) + len(self.outputs(size)))
        check_arguments(self.kernel_class, "reference", len(drawn))
        return drawn

    def _check_input(self, number: int, value: Any) -> None:
        if arrays.family(value) or arrays.is_number(value):
            host = arrays.to_host(value)
            if host.dtype.kind == "O":
                raise self.mistake("inputs", f"numbers in input {number}", arrays.described(value))
            if host.dtype.kind in "fc" and np.isnan(host).any():
                raise self.mistake("inputs", f"numbers in input {number}", f"{arrays.described(value)} with NaN")

    # ------------------------------------------------------------------ results

    def results(self, returned: Any, outputs: Values) -> Values:
        """Return the results of a call: its outputs, or what it returned."""
        if outputs:
            if arrays.is_number(returned) and returned:
                raise BuildFailed(f"the build returned status {returned}, expected 0")
            if returned is not None and not arrays.is_number(returned):
                found = f"outputs() and a returned {arrays.described(returned)}"
                raise self.mistake("call", "one of both: outputs(), or a returned result", found)
            return outputs
        if returned is None:
            raise self.mistake("call", "the result to be returned, or outputs() to be written", "neither")
        results = returned if isinstance(returned, tuple) else (returned,)
        for each in results:
            if not arrays.family(each) and arrays.to_host(each).dtype.kind not in "biufc":
                raise self.mistake("call", "an array or a number to be returned", arrays.described(each))
        return results

    def expected(self, inputs: Values, results: Values, *, in_outputs: bool) -> tuple[arrays.Array, ...]:
        """Return what the reference gives for `inputs`, on the host: as many arrays as there are results, of their shapes."""
        before = [arrays.copy_of(each) for each in inputs]
        with self.blaming("reference"):
            returned = self.kernel.reference(*inputs)
        exact = returned if isinstance(returned, tuple) else (returned,)
        for each in exact:
            self._check_exact(each, inputs)
        if not all(map(arrays.same_bits, inputs, before)):
            raise self.mistake("reference", "inputs that stay as they are: compute on a copy", "an input that it changed")
        if len(exact) != len(results):
            raise self.mistake("reference", f"{len(results)} results, as many as the call gives", f"{len(exact)}")
        hosts = tuple(arrays.to_host(each) for each in exact)
        for host, result in zip(hosts, results, strict=True):
            shape = arrays.to_host(result).shape
            if shape != host.shape and in_outputs:
                raise self.mistake("reference", f"shape {shape}, that of outputs()", f"{host.shape}")
            if shape != host.shape:
                place = place_of(self.kernel_class, "reference")
                raise BuildFailed(f"the result has shape {shape}, expected {host.shape}, that of the reference ({place})")
        return hosts

    def _check_exact(self, exact: Any, inputs: Values) -> None:
        found = arrays.described(exact)
        host = arrays.to_host(exact) if arrays.family(exact) or arrays.is_number(exact) else None
        if host is None or (host.dtype.kind not in "biu" and arrays.type_name(host) not in EXACT):
            expected = "a result in float64 (integers for integers): compute on x.astype(np.float64)"
            raise self.mistake("reference", expected, found)
        if host.dtype.kind in "fc" and arrays.type_name(exact) not in (*EXACT, "float", "complex"):
            raise self.mistake("reference", "a result in float64: compute on x.astype(np.float64)", found)
        if self.kernel_class.check is Kernel.check and host.dtype.kind in "fc" and np.isnan(host).any():
            raise self.mistake("reference", "numbers", f"{found} with NaN at {np.argwhere(np.isnan(host))[0].tolist()}")
        if any(arrays.overlap(exact, each) for each in inputs):
            raise self.mistake("reference", "an array of its own: return a copy", "a view of an input")

    def own_check(self, results: Values, exact: Values, inputs: Values) -> str | None:
        """Return what the author's own `check` finds wrong."""
        given = [arrays.to_host(each) for each in results]
        with self.blaming("check"):
            found: Any = self.kernel.check(*(each[0] if len(each) == 1 else tuple(each) for each in (given, exact)), *inputs)
        if found is not None and not isinstance(found, str):
            raise self.mistake("check", "a text that says what is wrong, or None", arrays.described(found))
        return found or None

    def facts(self) -> list[tuple[str, float, str, str]]:
        """Return the author's own figures for the profile."""
        with self.blaming("facts"):
            return list(self.kernel.facts(self.build))

    # ------------------------------------------------------------------ blame

    def mistake(self, name: str, expected: str, found: str) -> Mistake:
        """Return a Mistake at the line where the class says `name`."""
        return Mistake(expected, found, place_of(self.kernel_class, name))

    @contextmanager
    def calling(self) -> Iterator[None]:
        """Turn what a call of the build raises into BuildFailed, or into Mistake where the author's line is wrong."""
        with self.blaming("call", build_may_fail=True):
            yield

    @contextmanager
    def blaming(self, name: str, *, build_may_fail: bool = False) -> Iterator[None]:
        """Turn what the author's `name` raises into Mistake; with `build_may_fail`, what the build raises into BuildFailed."""
        try:
            yield
        except Mistake as mistake:
            mistake.place = mistake.place or self._own_frame(mistake) or place_of(self.kernel_class, name)
            raise
        except (Fault, BuildFailed):
            raise
        except (Exception, SystemExit) as error:
            said = f"{type(error).__name__}: {str(error)[:200]}"
            in_build = self._frame_of_build(error)
            if build_may_fail and (in_build or not isinstance(error, HARNESS_ERRORS)):
                raise BuildFailed(f"the build raised {said} ({in_build or self._own_frame(error)})") from error
            place = self._own_frame(error) or place_of(self.kernel_class, name)
            raise Mistake(f"{name} to return", said, place) from error

    def _own_frame(self, error: BaseException) -> Place | None:
        file = file_of(self.kernel_class)
        return next((place for place in frames(error.__traceback__) if place.file == file), None)

    def _frame_of_build(self, error: BaseException) -> Place | None:
        """Return the innermost line of the build that an error came through, None if the author's file is further inside."""
        files = (file_of(self.kernel_class), str(self.artifact.resolve()))
        place = next((place for place in frames(error.__traceback__) if place.file in files), None)
        return place if place and place.file == files[1] else None
