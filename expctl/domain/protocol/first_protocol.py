"""What `expctl init` has seen of a repository and of this machine, from which it writes a first protocol.yaml and harness."""

from enum import StrEnum

from msgspec import Struct


class Kind(StrEnum):
    """Kinds of kernels that `init` can set up."""

    C = "c"
    HIP = "hip"
    CUDA = "cuda"
    TORCH = "torch"
    TRITON = "triton"
    PYTHON = "python"

    @property
    def is_python(self) -> bool:
        """Is the kernel a Python file, which is its own build?"""
        return self in (Kind.TORCH, Kind.TRITON, Kind.PYTHON)


class Gpu(Struct, frozen=True, kw_only=True):
    """A GPU of this machine: its device file, the compiler's name of it (sm_90, gfx1151), the variable that selects it."""

    device: str
    arch: str
    variable: str


class Sketch(Struct, frozen=True, kw_only=True):
    """What a harness says of one kernel function, as Python text: expressions for inputs, outputs ("" where the result is
    returned), the call and the reference ("" for one that is to be written), and the signature in C, if it has one.
    """

    function: str
    parameters: tuple[str, ...]
    inputs: str
    call: str
    size: str = "n=1048576"
    size_words: str = "n=1 << 20"
    size_names: str = "n"
    reference: str = ""
    outputs: str = ""
    signature: str = ""

    @property
    def title(self) -> str:
        """Return the name of the class: `row_sums` becomes RowSums."""
        return "".join(word[:1].upper() + word[1:] for word in self.function.split("_")) or "Mine"


class FirstProtocol(Struct, frozen=True, kw_only=True):
    """All that a first protocol.yaml says. `build` is the argv of a command, () for a toolchain with a `source`. `tests` are
    folders of the user's own tests by pytest, which the harness of a Python kernel runs too.
    """

    kind: Kind
    name: str
    scope: tuple[str, ...]
    harness: tuple[str, ...]
    script: str
    source: str
    artifact: str
    sketch: Sketch
    build: tuple[str, ...] = ()
    toolchain: str = "command"
    gpu: Gpu | None = None
    python: str = ""
    executables: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    is_sample: bool = False
    tests: tuple[str, ...] = ()

    @property
    def module(self) -> str:
        """Return the name by which tests import a Python source: `fast.ops` for fast/ops.py and src/fast/ops.py."""
        return self.source.removesuffix(".py").removeprefix("src/").replace("/", ".")
