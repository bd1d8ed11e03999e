"""Where the calls of a GPU kernel come from in a torch program: the operator, the module and the layer that launched them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Calls of one kernel that one operator launched in one module; times are in ns, unknown text is "", unknown figures None.

    `operators` are torch's names, outermost first, `modules` the modules around them (class and number), outermost first.
    `layer` is the module that stands for a layer of the model. `flop` and `bytes_least` are totals over all `calls`, from the
    recorded shapes, and so are the elements of all `results`; `bytes_least` counts each operand once. `kind` is the number type
    of the operands, e.g. `bf16`.
    """

    operators: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    layer: str = ""
    calls: int = 0
    total_ns: int = 0
    flop: float | None = None
    bytes_least: float | None = None
    results: float | None = None
    kind: str = ""

    @property
    def operator(self) -> str:
        """Return the innermost operator, which launched the kernel; "" if none is known."""
        return self.operators[-1] if self.operators else ""
