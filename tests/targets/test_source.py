"""The toolchain `source`: what is copied, what counts as the same code, and what Triton's cache adds."""

import json
import subprocess
import sys
from pathlib import Path

from expctl.domain.protocol.model import Build, Toolchain
from expctl.inspection.readers.triton_cache import compiled_kernels
from expctl.targets.source import TRITON_CACHE, SourceRecipe

KERNEL = """
import triton

@triton.jit
def add(x, n: triton.language.constexpr):
    return x + n

def call(x):
    return add[(1,)](x, 4)
"""


def code(folder: Path, text: str, *, name: str = "kernel.py", compiled: str = "") -> str:
    """The identity of a build of `text`; `compiled` is the machine code that Triton left for `add`."""
    folder.mkdir(exist_ok=True)
    (folder / "tree").mkdir(exist_ok=True)
    source = folder / "tree" / name
    source.write_text(text)
    build = Build(toolchain=Toolchain.SOURCE, source=str(source), artifact=name)
    for command in SourceRecipe().commands(build, out=folder):
        subprocess.run([word.replace("{python}", sys.executable) for word in command], check=True, capture_output=True)
    if compiled:
        cache = folder / TRITON_CACHE / "KEY"
        cache.mkdir(parents=True, exist_ok=True)
        (cache / "add.json").write_text(json.dumps({"name": "add", "num_warps": 4, "shared": 0, "hash": text}))
        (cache / "add.hsaco").write_bytes(compiled.encode())
        (cache / "__grp__add.json").write_text("{}")
    found = compiled_kernels(folder / TRITON_CACHE)
    assert len(found) == bool(compiled)
    return SourceRecipe().describe(folder / name)[0]


def test_a_docstring_is_no_code_unless_the_code_reads_it(tmp_path: Path) -> None:
    plain, noted = "def f(x):\n    return x\n", 'def f(x):\n    """The same."""\n    return x  # x\n'
    assert code(tmp_path, plain) == code(tmp_path, noted)
    reads = "print(f.__doc__)\n"
    assert code(tmp_path, plain + reads) != code(tmp_path, noted + reads)


def test_other_code_is_other_code(tmp_path: Path) -> None:
    assert code(tmp_path, "def f(x):\n    return x\n") != code(tmp_path, "def f(x):\n    return -x\n")


def test_the_machine_code_of_a_triton_kernel_stands_for_its_body(tmp_path: Path) -> None:
    renamed = KERNEL.replace("x + n", "n + x")
    assert code(tmp_path / "a", KERNEL) != code(tmp_path / "b", renamed)
    first = code(tmp_path / "c", KERNEL, compiled="s_endpgm")
    assert first == code(tmp_path / "d", renamed, compiled="s_endpgm")
    assert first != code(tmp_path / "e", KERNEL, compiled="s_nop")


def test_what_launches_a_triton_kernel_is_compared_as_text(tmp_path: Path) -> None:
    launched = KERNEL.replace("(x, 4)", "(x, 8)")
    assert code(tmp_path / "a", KERNEL, compiled="s_endpgm") != code(tmp_path / "b", launched, compiled="s_endpgm")


def test_a_source_in_c_is_compared_without_comments_unless_it_knows_its_lines(tmp_path: Path) -> None:
    plain = 'extern "C" __global__ void f(int *x) { *x = 1; }\n'
    assert code(tmp_path, plain, name="f.cu") == code(tmp_path, f"// twice\n{plain}", name="f.cu")
    knows = plain.replace("1", "__LINE__")
    assert code(tmp_path, knows, name="f.cu") != code(tmp_path, f"// twice\n{knows}", name="f.cu")


def test_a_file_that_does_not_parse_is_named_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "kernel.py").write_text("def f(x):\n    return (\n")
    build = Build(toolchain=Toolchain.SOURCE, source="kernel.py", artifact="k.py")
    (copies,) = SourceRecipe().commands(build, out=tmp_path)
    argv = [word.replace("{python}", sys.executable) for word in copies]
    ended = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True)
    assert ended.returncode == 1
    assert "kernel.py:2: error: '(' was never closed" in ended.stderr
