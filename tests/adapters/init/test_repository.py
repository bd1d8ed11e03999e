"""What `init` finds in a repository."""

import os
from pathlib import Path

import pytest

from expctl.adapters.init import repository
from expctl.adapters.init.gpus import amd_arch
from expctl.adapters.init.repository import Repository, Wishes, first_protocol
from expctl.domain.protocol.first_protocol import FirstProtocol, Kind
from expctl.views.scaffold import sample_text
from tests.refusals import refuses

C = "double total(const double *x, long n) { return n ? x[0] : 0; }\n"
PYTHON = "import numpy as np\n\ndef total(x):\n    return np.sum(x)\n"


def found(root: Path, files: dict[str, str], **wishes: str) -> FirstProtocol:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    kind = Kind(wishes.pop("kind")) if "kind" in wishes else None
    seen = Repository(root, tuple(sorted(files)))
    return first_protocol(seen, Wishes(kind=kind, **wishes), sample=sample_text)  # type: ignore[arg-type]


def test_a_makefile_with_a_library_is_the_build(tmp_path: Path) -> None:
    makefile = "CFLAGS := -O2\nbuild/libtotal.so: lib/total.c\n\tcc -o $@ $<\n"
    first = found(tmp_path, {"lib/total.c": C, "Makefile": makefile, "tests/test_total.py": ""})
    assert first.kind is Kind.C
    assert first.build == ("sh", "-c", 'make -s build/libtotal.so && cp build/libtotal.so "$0"', "{artifact}")
    assert (first.scope, first.harness) == (("lib",), ("bench", "tests"))
    assert first.sketch.function == "total"
    assert not first.is_sample


def test_without_one_all_sources_that_are_no_programs_are_compiled(tmp_path: Path) -> None:
    first = found(tmp_path, {"total.c": C, "other.c": "int other;\n", "main.c": "int main(void) { return 0; }\n"})
    assert [word for word in first.build if word.endswith(".c")] == ["other.c", "total.c"]
    assert first.scope == ("other.c", "total.c")


def test_a_python_file_is_its_own_build(tmp_path: Path) -> None:
    first = found(tmp_path, {"fast/ops.py": PYTHON, "setup.py": "import fast\n"})
    assert (first.toolchain, first.source, first.artifact) == ("source", "fast/ops.py", "kernel.py")
    assert first.sketch.call == "build.total(x)"


def test_triton_goes_before_torch_and_several_files_are_asked_about(tmp_path: Path) -> None:
    triton = "import torch\nimport triton\n\n@triton.jit\ndef k(x):\n    pass\n\ndef call(x):\n    return k[(1,)](x)\n"
    assert found(tmp_path, {"a.py": triton, "b.py": PYTHON}).kind is Kind.TRITON
    with refuses("several-sources"):
        found(tmp_path, {"a.py": PYTHON, "b.py": PYTHON})
    assert found(tmp_path, {"a.py": PYTHON, "b.py": PYTHON}, source="b.py", kind="python").source == "b.py"


def test_an_empty_repository_needs_a_kind_and_gets_a_sample(tmp_path: Path) -> None:
    with refuses("kind-unknown"):
        found(tmp_path, {"README.md": ""})
    assert found(tmp_path, {"README.md": ""}, kind="cuda").is_sample


def test_a_virtual_environment_is_named_where_ours_lacks_a_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".venv/bin").mkdir(parents=True)
    (tmp_path / ".venv/bin/python").touch()
    monkeypatch.setattr(repository, "_has", lambda python, _: python.startswith(str(tmp_path)))
    assert found(tmp_path, {"ops.py": PYTHON}).python == ".venv/bin/python"


@pytest.mark.parametrize(("version", "name"), [("90010", "gfx90a"), ("110501", "gfx1151"), ("90402", "gfx942")])
def test_the_name_of_an_amd_gpu(tmp_path: Path, version: str, name: str) -> None:
    for node, text in (("0", "gfx_target_version 0\n"), ("1", f"simd_count 80\ngfx_target_version {version}\n")):
        (tmp_path / node).mkdir()
        (tmp_path / node / "properties").write_text(text)
    assert amd_arch(tmp_path) == name


def test_a_folder_whose_name_is_not_utf_8_gives_a_name_that_can_be_written(tmp_path: Path) -> None:
    root = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9"))
    root.mkdir()
    assert found(root, {"total.c": C}).name == "caf\N{REPLACEMENT CHARACTER}"
