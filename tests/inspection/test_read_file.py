"""One kernel as source, assembly, object, linked object and bundle: the same figures; and what counts as the same code."""

import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from expctl.adapters.codec.decode import encode
from expctl.domain.errors import Refused
from expctl.domain.run.step_result import Unavailable
from expctl.inspection import device_compiler, tool_versions
from expctl.inspection.device_compiler import Options, compile_source
from expctl.inspection.model.change import change_between
from expctl.inspection.model.report import FileReport, KernelReport
from expctl.inspection.readers.assembly_text import parse_assembly
from expctl.inspection.readers.read_file import inspect
from expctl.targets.gfx1151 import compiler_facts
from tests.refusals import refuses

ziglang = pytest.importorskip("ziglang", reason="the ziglang wheel (extra `cpu`) is not installed")

ROOT = Path(__file__).parents[2]
ANY = Options(arch="")
HEAD = """\
#include <hip/hip_runtime.h>
__constant__ float kTable[4] = {1, 2, 3, 4};
"""
FIRST = """\
extern "C" __global__ void __launch_bounds__(256) scale(float *x, int n) {
    __shared__ float tile[300];
    tile[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = tile[255 - threadIdx.x] * 2.0f + n;
}
"""
SECOND = """\
extern "C" __global__ void __launch_bounds__(64) looked_up(float *x, int n) {
    for (int i = threadIdx.x; i < n; i += 64) x[i] *= kTable[i & 3];
}
"""
TWO = HEAD + FIRST + SECOND

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def writes(text: str, name: str = "two.hip") -> Path:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return writes


@pytest.fixture(scope="session")
def two(tmp_path_factory: pytest.TempPathFactory) -> FileReport:
    """The report of TWO."""
    path = tmp_path_factory.mktemp("two") / "two.hip"
    path.write_text(TWO)
    return inspect(path, ANY)


@pytest.fixture(scope="session")
def two_text(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The assembly of TWO for gfx1151."""
    path = tmp_path_factory.mktemp("two") / "two.hip"
    path.write_text(TWO)
    return compile_source(path, Options(arch="gfx1151")).assembly


def kernels(report: FileReport) -> dict[str, KernelReport]:
    return {each.name: each for each in report.kernels}


def hashes(report: FileReport) -> dict[str, str | None]:
    return {each.name: each.code_hash for each in report.kernels}


def zig(*words: str) -> None:
    subprocess.run([sys.executable, "-m", "ziglang", *words], check=True, capture_output=True)


def test_every_form_of_a_kernel_says_the_same(two: FileReport, two_text: str, write: Write, tmp_path: Path) -> None:
    text = write(two_text, "two.s")
    loose, linked, bundle = tmp_path / "two.o", tmp_path / "two.hsaco", tmp_path / "two.co"
    zig("clang", "--target=amdgcn-amd-amdhsa", "-mcpu=gfx1151", "-c", str(text), "-o", str(loose))
    zig("ld.lld", "-shared", str(loose), "-o", str(linked))
    name, content = b"hipv4-amdgcn-amd-amdhsa--gfx1151", linked.read_bytes()
    head = b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<QQQQ", 1, 4096, len(content), len(name)) + name
    bundle.write_bytes(head.ljust(4096, b"\0") + content)

    first = kernels(two)
    assert set(first) == {"scale", "looked_up"}
    scale = first["scale"]
    assert (scale.lds_bytes, scale.scratch_bytes, scale.spills, scale.workgroup, scale.mode) == (1200, 0, 0, 256, "WGP")
    assert scale.instructions is not None
    assert scale.instructions["barrier"] == 1
    assert scale.hot_loop is None
    assert first["looked_up"].hot_loop is not None

    untold = {"instructions": None, "hot_loop": None, "hot_loop_lines": None}
    for path in (text, loose, linked, bundle):
        for kernel, found in kernels(inspect(path, ANY)).items():
            expected = encode(first[kernel]) | ({} if path == text else untold)
            if path in (linked, bundle) and kernel == "looked_up":  # it holds the distance to its table
                expected["code_hash"] = found.code_hash
            assert encode(found) == expected, path


def test_the_figures_are_the_compilers_own(two: FileReport, two_text: str) -> None:
    facts = {fact.name: fact.value for fact in compiler_facts(two_text)}
    found = two.kernels
    assert max(each.vgpr or 0 for each in found) == facts["vgpr"]
    assert max(each.sgpr for each in found) == facts["sgpr"]
    assert max(each.lds_bytes for each in found) == facts["lds"]
    assert min(each.occupancy or 0 for each in found) == facts["occupancy"]
    assert max(each.code_bytes or 0 for each in found) == facts["code"]


def test_headers_that_every_source_gets_change_nothing_in_one_that_brings_its_own(tmp_path: Path) -> None:
    source, define = ROOT / "kernel/hip/scaled_mm.hip", "SCALED_MM_CONFIG=2,2,2,2,2,2"
    plain = tmp_path / "plain.s"
    include = Path(ziglang.__file__).parent / "lib/include"
    flags = ("-nogpuinc", "-nogpulib", "-std=c++17", "-O3", "--offload-arch=gfx1151", "-isystem", str(include), f"-D{define}")
    zig("clang", *device_compiler.DEVICE_ONLY, *flags, "-S", str(source), "-o", str(plain))
    assert compile_source(source, Options(arch="gfx1151", defines=(define,))).assembly == plain.read_text()


SAME = {
    "a comment": ("// said\n\n" + TWO, "two.hip"),
    "another folder": (TWO, "elsewhere/other.hip"),
    "the name of a local variable": (TWO.replace("tile", "piece"), "two.hip"),
    "the order of the kernels": (HEAD + SECOND + FIRST, "two.hip"),
}  # fmt: skip


@pytest.mark.parametrize("name", SAME)
def test_what_is_no_machine_code_does_not_change_the_hash(two: FileReport, write: Write, name: str) -> None:
    text, path = SAME[name]
    assert hashes(inspect(write(text, path), ANY)) == hashes(two)


def test_one_instruction_changes_the_hash_of_its_kernel_alone(two: FileReport, write: Write) -> None:
    before, after = hashes(two), hashes(inspect(write(TWO.replace("* 2.0f", "* 3.3f")), ANY))
    assert before["scale"] != after["scale"]
    assert before["looked_up"] == after["looked_up"]


def test_a_constant_that_a_kernel_reads_is_code(two: FileReport, write: Write) -> None:
    after = hashes(inspect(write(TWO.replace("3, 4}", "3, 5}")), ANY))
    assert hashes(two)["looked_up"] != after["looked_up"]


def test_one_edited_instruction_of_an_assembly_changes_its_hash(two: FileReport, two_text: str, write: Write) -> None:
    edited = two_text.replace("s_barrier", "s_nop 0", 1)
    assert edited != two_text
    found = hashes(inspect(write(edited, "b.s"), ANY))
    assert found["scale"] != hashes(two)["scale"]
    assert found["looked_up"] == hashes(two)["looked_up"]


def test_a_change_between_two_builds(two: FileReport, write: Write) -> None:
    b = inspect(write(TWO.replace("tile[300]", "tile[600]").replace("__syncthreads();", ""), "other.hip"), ANY)
    change = change_between(two, b)
    assert (change.only_in_a, change.only_in_b) == ((), ())
    scale, looked_up = change.kernels
    assert (scale.a, scale.same_code, looked_up.same_code) == ("scale", False, True)
    lds = next(each for each in scale.figures if each.name == "lds_bytes")
    assert (lds.a, lds.b, lds.delta, lds.percent) == (1200, 2400, 1200, 100)
    barrier = next(each for each in scale.instructions if each.name == "barrier")
    assert (barrier.a, barrier.b, barrier.delta) == (1, 0, -1)
    assert {each.delta for each in looked_up.instructions} == {0}


def test_kernels_of_other_names_are_paired_in_order(two: FileReport, write: Write) -> None:
    a, b = two, inspect(write(TWO.replace("scale(", "scale_v2("), "b.hip"), ANY)
    assert [(each.a, each.b) for each in change_between(a, b).kernels] == [("looked_up", "looked_up"), ("scale", "scale_v2")]
    without = FileReport(file="b", form=b.form, arch=b.arch, compiler="", kernels=b.kernels[:0], notes=())
    assert change_between(a, without).only_in_a == ("scale", "looked_up")


IN_THE_ORACLE = [pytest.param(arch, marks=pytest.mark.long) for arch in ("gfx90a", "gfx942", "gfx1030", "gfx1200")]


@pytest.mark.parametrize("arch", ["gfx950", "gfx1101", "gfx1152", *IN_THE_ORACLE])
def test_occupancy_is_what_this_clang_prints_for_other_gpus(write: Write, arch: str) -> None:
    """The oracle of LLVM 19 has no gfx950, gfx1101 and gfx1152."""
    source = write(TWO.replace("tile[300]", "tile[9000]"))
    text = compile_source(source, Options(arch=arch)).assembly
    report = inspect(write(text, "two.s"), ANY)
    assert report.arch == arch
    assert [each.occupancy for each in report.kernels] == [each.printed_occupancy for each in parse_assembly(text, "").kernels]
    assert (report.kernels[0].workgroup, report.kernels[0].limiter) == (256, "lds")


REFUSED = {
    "no kernel": ("void f() {}\n", "a.cpp", "no-kernel-in-file"),
    "a template that nobody uses": ("template <class T> __global__ void f(T *x) {}\n", "a.hip", "no-kernel-in-file"),
    "an error": ("__global__ void f(int *x) { *x = missing; }\n", "a.hip", "does-not-compile"),
    "an unknown ending": ("hello\n", "a.txt", "not-inspectable"),
    "assembly of another machine": ("\t.text\nmain:\n\tret\n", "a.s", "not-amd-assembly"),
    "a damaged object": ("\x7fELF\2\1\1", "a.hsaco", "not-amd-code-object"),
    "zeros": ("\0\0\0", "a.hip", "not-inspectable"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_inspected_is_refused(write: Write, name: str) -> None:
    text, path, code = REFUSED[name]
    with refuses(code) as refusal:
        inspect(write(text, path), ANY)
    assert refusal.value.where


BOUNDS = {"": 1024, "__launch_bounds__(64)": 64, "__launch_bounds__(2 * 64, 2)": 128, "__launch_bounds__(768)": 768}


@pytest.mark.parametrize("bounds", BOUNDS)
def test_launch_bounds_are_hips(write: Write, bounds: str) -> None:
    (kernel,) = inspect(write(f"__global__ void {bounds} f(int *x) {{ *x = 1; }}\n"), ANY).kernels
    assert kernel.workgroup == BOUNDS[bounds]
    assert bool(kernel.notes) == (bounds == "__launch_bounds__(768)")  # LLVM 21 takes the best of all sizes up to 768


def test_the_first_error_of_the_compiler_is_shown(write: Write) -> None:
    with pytest.raises(Refused) as refusal:
        inspect(write("__global__ void f(int *x) { *x = missing; }\n"), ANY)
    assert "two.hip:1:34: error: use of undeclared identifier 'missing'" in refusal.value.found


def test_a_host_library_is_no_code_object() -> None:
    with refuses("not-amd-code-object") as refusal:
        inspect(Path(sys.executable).resolve(), ANY)
    assert "machine" in refusal.value.found


def test_a_file_for_another_gpu_is_refused(write: Write) -> None:
    text = write(compile_source(write(TWO), Options(arch="gfx1100")).assembly, "two.s")
    with refuses("file-for-another-gpu") as refusal:
        inspect(text, Options(arch="gfx1151"))
    assert refusal.value.found == "gfx1100"
    with refuses("not-an-amd-gpu"):
        inspect(text, Options(arch="sm_90"))


def test_without_the_wheel_a_source_is_refused_and_assembly_has_no_hash(
    two_text: str, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = write(two_text, "two.s")
    gone = Unavailable(reason="no ziglang for this Python", hint="pip install 'expctl[cpu]'")
    monkeypatch.setattr(tool_versions, "packages", lambda *_, **__: gone)
    with pytest.raises(Refused) as refusal:
        inspect(write(TWO), ANY)
    assert refusal.value.hint == "pip install 'expctl[cpu]'"
    report = inspect(text, ANY)
    assert [each.code_hash for each in report.kernels] == [None, None]
    assert report.kernels[0].code_bytes is not None
    assert "pip install 'expctl[cpu]'" in report.notes[0]


def test_hipcc_is_used_where_it_is(write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stand-in that is asked as hipcc would be, and answers with the wheel's files."""
    made = compile_source(write(TWO), Options(arch="gfx1151"))
    (tmp_path / "answer.s").write_text(made.assembly)
    (tmp_path / "answer.o").write_bytes(made.code_object)
    script = f"""#!{sys.executable}
import pathlib, shutil, sys
if "--version" in sys.argv:
    print("HIP version: 7.1")
else:
    assert "--offload-arch=gfx1151" in sys.argv and "--cuda-device-only" in sys.argv and "-O2" in sys.argv, sys.argv
    shutil.copy(pathlib.Path({str(tmp_path)!r}) / ("answer.s" if "-S" in sys.argv else "answer.o"), sys.argv[-1])
"""
    program = write(script, "bin/hipcc")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent))
    report = inspect(tmp_path / "two.hip", Options(arch="gfx1151", level="-O2"))
    assert report.compiler == "hipcc (HIP version: 7.1)"
    assert hashes(report) == hashes(inspect(tmp_path / "answer.s", ANY))
