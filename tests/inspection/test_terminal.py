"""Inspections on a terminal, whole."""

from dataclasses import replace

from expctl.gpu.architectures import ModeName
from expctl.gpu.headroom import Usage
from expctl.gpu.occupancy import architecture, occupancy
from expctl.inspection.model.change import change_between
from expctl.inspection.model.instruction_mix import Body, Statement
from expctl.inspection.model.report import FileReport, Form, Resources, kernel_report
from expctl.inspection.views.occupancy import occupancy_lines
from expctl.inspection.views.terminal import change_lines, report_lines

CODE = ("s_load_b64 s[0:1]", "v_wmma_f32 v0", "ds_load_b128 v1", "s_cbranch_scc1 loop", "s_endpgm ")
BODY = Body(
    statements=tuple(Statement(line=i + 10, mnemonic=t.split()[0], operands=t.partition(" ")[2]) for i, t in enumerate(CODE)),
    labels={"loop": 1},
)
RESOURCES = Resources(
    name="mm", vgpr=187, agpr=0, sgpr=81, lds_bytes=16512, scratch_bytes=8, vgpr_spills=2, sgpr_spills=1, workgroup=256,
    wave=32, mode=ModeName.WGP, code_bytes=None, printed_occupancy=9,
)  # fmt: skip


def report(resources: Resources, body: Body | None, code_hash: str | None) -> FileReport:
    kernel = kernel_report("gfx1151", resources, code_bytes=4096, body=body, code_hash=code_hash)
    return FileReport(
        file="mm.hip",
        form=Form.SOURCE,
        arch="gfx1151",
        compiler="clang of ziglang 0.16.0",
        kernels=(kernel,),
        notes=("no more",),
    )


def test_a_report() -> None:
    assert report_lines(report(RESOURCES, BODY, "0123456789abcdef0123")) == [
        "mm.hip  HIP source for gfx1151, clang of ziglang 0.16.0",
        "",
        "mm",
        "  registers vgpr 187, sgpr 81; spills 3 (2 vgpr, 1 sgpr), scratch 8 B",
        "  LDS       16512 B per workgroup of at most 256, waves of 32",
        "  code      4096 B, hash 0123456789abcdef",
        "  occupancy 8 waves per SIMD (LLVM, WGP mode), limited by vgpr; 5 more VGPR keep it, 19 fewer give 9; "
        "16256 more B of LDS keep it",
        "  resident  50.00 % (WGP): 4 workgroups, 32 waves, limited by vgpr; 5 more VGPR keep it, 43 fewer give 5; "
        "16256 more B of LDS keep it",
        "            50.00 % (CU): 2 workgroups, 16 waves, limited by vgpr; 5 more VGPR keep it, 67 fewer give 3; "
        "16256 more B of LDS keep it",
        "  naive     50.00 % (no granules, no whole workgroups: not what fits)",
        "  instructions               whole    hot loop  per matrix",
        "    matrix                       1           1       1.000",
        "    LDS load b128                1           1       1.000",
        "    scalar load                  1           0       0.000",
        "    branch                       2           1       1.000",
        "    all                          5           3       3.000",
        "  the hot loop is lines 11 to 13 of the assembly",
        "  note      the compiler itself printed occupancy 9: it may have taken smaller workgroups into account",
        "",
        "note  no more",
    ]


def test_a_code_object_has_no_instructions_and_an_unknown_gpu_no_occupancy() -> None:
    resources = replace(RESOURCES, name="kernel\x1b[31m", wave=64, vgpr_spills=0, sgpr_spills=0, scratch_bytes=0)
    kernel = kernel_report("gfx1250", resources, code_bytes=None, body=None, code_hash=None)
    file = FileReport(file="a.co", form=Form.CODE_OBJECT, arch="gfx1250", compiler="", kernels=(kernel,), notes=())
    assert report_lines(file) == [
        "a.co  code object for gfx1250",
        "",
        "kernel",
        "  registers vgpr 187, sgpr 81; spills 0, scratch 0 B",
        "  LDS       16512 B per workgroup of at most 256, waves of 64",
        "  code      unknown",
        "  note      no occupancy figures for gfx1250",
    ]


def test_a_difference() -> None:
    fewer = replace(RESOURCES, vgpr=168, vgpr_spills=0, sgpr_spills=0, scratch_bytes=0)
    short = Body(statements=BODY.statements[:2] + BODY.statements[3:], labels=BODY.labels)
    change = change_between(report(RESOURCES, BODY, "a"), report(fewer, short, "b"))
    assert change_lines(change) == [
        "a  mm.hip  HIP source for gfx1151",
        "b  mm.hip  HIP source for gfx1151",
        "",
        "mm  machine code differs",
        "                                   a           b      change",
        "    vgpr                         187         168     -10.2 %",
        "    sgpr                          81          81           =",
        "    lds_bytes                  16512       16512           =",
        "    scratch_bytes                  8           0    -100.0 %",
        "    spills                         3           0    -100.0 %",
        "    code_bytes                  4096        4096           =",
        "    occupancy                      8           9     +12.5 %",
        "    limiter                     vgpr        vgpr",
        "  instructions",
        "    matrix                         1           1           =",
        "    LDS load b128                  1           0    -100.0 %",
        "    scalar load                    1           1           =",
        "    branch                         2           2           =",
        "    all                            5           4     -20.0 %",
        "  hot loop",
        "    matrix                         1           1           =",
        "    LDS load b128                  1           0    -100.0 %",
        "    branch                         1           1           =",
        "    all                            3           2     -33.3 %",
    ]


def test_the_calculator() -> None:
    found = occupancy(architecture("gfx1151"), Usage(vgpr=256, sgpr=128, lds_bytes=17408, workgroup=128))
    assert occupancy_lines(found) == [
        "gfx1151, waves of 32; 264 VGPRs allocated",
        "  LLVM      5 of 16 waves per SIMD, limited by vgpr; no more VGPR to be had, 16 fewer give 6; "
        "8806 more B of LDS keep it",
        "  resident  31.25 % (WGP): 5 workgroups, 20 waves, limited by vgpr; no more VGPR to be had, 16 fewer give 6; "
        "8192 more B of LDS keep it",
        "            25.00 % (CU): 2 workgroups, 8 waves, limited by vgpr; no more VGPR to be had, 16 fewer give 3; "
        "15360 more B of LDS keep it",
        "  naive     37.50 % (no granules, no whole workgroups: not what fits)",
    ]


def test_the_calculator_for_nvidia() -> None:
    found = occupancy(architecture("sm_90"), Usage(vgpr=168, sgpr=0, lds_bytes=0, workgroup=128))
    assert occupancy_lines(found)[1].startswith("  warps     3 of 16 per scheduler, limited by vgpr")
