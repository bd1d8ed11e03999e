"""What an author says about one kernel; `serve` does the rest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from expctl.harness.libraries import Loader, loader_for

if TYPE_CHECKING:
    from pathlib import Path

DEFINED: list[type[Kernel]] = []
"""The kernels of the script that runs."""


class Kernel:
    """One kernel: derive a class from it, give `sizes`, `inputs`, `call` and `reference`, and hand the class to `serve`.

    Arrays are numpy arrays, torch tensors or cupy arrays; numbers may stand beside them.
    """

    def __init_subclass__(cls) -> None:
        if cls.__module__ == "__main__":
            DEFINED.append(cls)

    sizes: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    """The keyword arguments of `inputs` and `outputs` by the name of a size, as protocol.yaml writes it."""
    test_sizes: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    """More sizes, which the test alone uses: edges, odd numbers."""
    pytest: ClassVar[Sequence[str]] = ()
    """Files or folders of tests by pytest, which a test runs too, each as a case. For a build in Python alone."""
    module: ClassVar[str] = ""
    """With `pytest`: the module that those tests import, in whose place the build is put: `package.name`."""
    library: ClassVar[Loader | None] = None
    """How the build is loaded; None: a .py file or a Python extension as a module, a .cu file by torch."""
    rel_l2: ClassVar[float | None] = None
    """Largest |got - expected| / |expected| of a whole result; None: the square root of the epsilon of the result's type."""
    max_abs: ClassVar[float | None] = None
    """Largest error of one element; None: 16 times the limit of `rel_l2`, times the largest |expected|."""
    device: ClassVar[str] = ""
    """`cuda` or `hip`: numpy arrays are copied to that GPU, the call gets them as pointers, and is timed by events."""
    in_place: ClassVar[bool] = False
    """Whether a call may change its inputs. `reference` then gets untouched copies."""

    def inputs(self, rng: Any, *_: Any, **size: Any) -> Sequence[Any]:
        """Return the inputs of one call as a tuple, drawn from `rng` (numpy.random.Generator) alone."""
        raise NotImplementedError

    def outputs(self, *_: Any, **size: Any) -> Sequence[Any]:  # noqa: ARG002  the author's signature
        """Return empty arrays that a call writes its results into, poisoned before each call. () where it returns them."""
        return ()

    def call(self, build: Any, *arguments: Any, **_: Any) -> Any:
        """Call the build with the inputs, then the outputs: this alone is timed. Return its result, or None with `outputs`."""
        raise NotImplementedError

    def reference(self, *inputs: Any, **_: Any) -> Any:
        """Return what is expected of these inputs, in float64 (integers where the result has integers), one per result."""
        raise NotImplementedError

    def check(self, got: Any, expected: Any, *inputs: Any, **_: Any) -> str | None:
        """Return what is wrong with a result, None if nothing. Replaces the limits `rel_l2` and `max_abs`."""
        raise NotImplementedError

    def facts(self, build: Any) -> Iterable[tuple[str, float, str, str]]:  # noqa: ARG002  the author's signature
        """Return more figures for the profile: (name, value, unit, kind), as docs/HARNESS.md has them."""
        return ()

    def load(self, artifact: Path) -> Any:
        """Return the build that `call` gets. Raises Fault for a file that can't be loaded."""
        return (self.library or loader_for(artifact)).load(artifact)
