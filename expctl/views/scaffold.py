"""The files that `expctl init` writes into a repository: protocol.yaml, a harness, a sample kernel."""

import json
from importlib import resources
from typing import TYPE_CHECKING

from expctl.domain.protocol.first_protocol import FirstProtocol, Kind

if TYPE_CHECKING:
    from jinja2 import Template

DEFAULT_ARCH = {Kind.CUDA: "sm_90", Kind.HIP: "gfx1151"}


def protocol_text(first: FirstProtocol) -> str:
    """Return the text of a first protocol.yaml."""
    is_triton = first.kind is Kind.TRITON
    return _template("protocol.yaml").render(
        first=first,
        arch=first.gpu.arch if first.gpu else DEFAULT_ARCH.get(first.kind, ""),
        compiles=is_triton and first.gpu is not None,
        interprets=is_triton and first.gpu is None,
        jits=first.kind in (Kind.TORCH, Kind.TRITON),
    )


def harness_text(first: FirstProtocol) -> str:
    """Return the text of a harness that uses expctl.harness."""
    sketch = first.sketch
    written = sketch.outputs.count("empty") if sketch.outputs else 0
    reads = sketch.parameters[: len(sketch.parameters) - written]
    uses_torch = first.kind not in (Kind.C, Kind.PYTHON)
    tests = first.tests if first.kind.is_python and not first.is_sample else ()
    return _template("harness.py").render(
        sketch=sketch, script=first.script, reads=reads, uses_torch=uses_torch, tests=tests, module=first.module
    )


def sample_text(kind: Kind) -> str:
    """Return the text of a small kernel that passes its test and can be made faster."""
    return _template(kind.value).render()


def _template(name: str) -> "Template":
    import jinja2

    environment = jinja2.Environment(
        autoescape=False,  # noqa: S701  that escapes for HTML; `quoted` does for YAML
        variable_start_string="[[",  # `{{` may occur in YAML and in commands
        variable_end_string="]]",
        block_start_string="[%",
        block_end_string="%]",
        comment_start_string="[#",
        comment_end_string="#]",
        trim_blocks=True,
        keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["quoted"] = lambda value: json.dumps(value, ensure_ascii=False)
    text = resources.files("expctl.views").joinpath("samples", f"{name}.j2").read_text(encoding="utf-8")
    return environment.from_string(text)
