"""The command `expctl profile bottleneck`: what to work on next, what it can give, and whether a claimed gain is possible."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from expctl.cli.profile.options import profile_path

if TYPE_CHECKING:
    from expctl.profiles.bottleneck.amdahl import Claim
    from expctl.profiles.model.kernel_profile import Profile


def bottleneck(
    path: Annotated[Path, typer.Argument(metavar="FILE|FOLDER", parser=profile_path)],
    kernel: Annotated[str, typer.Option(metavar="REGEX", help="Of a claim: the kernels that became faster.")] = "",
    kind: Annotated[str, typer.Option("--class", metavar="CLASS", help="Of a claim: their class.")] = "",
    kernel_gain: Annotated[
        float | None, typer.Option(metavar="TIMES", min=1e-6, help="Of a claim: how many times as fast they became.")
    ] = None,
    claimed: Annotated[
        float | None, typer.Option(metavar="PERCENT", help="Of a claim: time saved end to end, in percent of the time before.")
    ] = None,
    arch: Annotated[str, typer.Option(metavar="GPU", help="The GPU, where the file doesn't name it: gfx1151, sm_90.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print facts as JSON.")] = False,
) -> None:
    """Say which class of kernels to work on next, the most that can give, and which rung of the ladder applies.

    With --kernel-gain and --claimed, also whether an end-to-end gain is possible: beyond share x (1 - 1/gain) it is INVALID,
    and the exit status is 1. Example: expctl profile bottleneck before.json --class GEMM --kernel-gain 1.3 --claimed 8
    """
    from expctl.cli.output import print_result, terminal_width
    from expctl.cli.profile.options import gpu
    from expctl.domain.errors import ExitStatus, Misused
    from expctl.profiles.assemble.analysis import Problem, analyse
    from expctl.profiles.bottleneck.amdahl import ClaimVerdict
    from expctl.profiles.bottleneck.report import bottlenecks
    from expctl.profiles.read_profile import read_profile
    from expctl.profiles.views.bottleneck import bottleneck_lines
    from expctl.profiles.views.data import plain_fields

    profile = read_profile(path, arch=gpu(arch))
    found = bottlenecks(profile, analyse(profile, profile.kernels, Problem()).positions)
    if found is None:
        raise Misused(
            "this profile has no times",
            code="profile-without-times",
            expected="times of kernels",
            found=f"a {profile.source}",
            hint="profile with rocprofv3 --kernel-trace, nsys or torch.profiler",
        )
    claim = _claim(profile, kernel, kind, kernel_gain, claimed)
    facts = plain_fields(found) | {"path": profile.path, "claim": plain_fields(claim) if claim else None}
    print_result(facts, lambda: bottleneck_lines(found, claim, terminal_width()), as_json, schema="profile-bottleneck/1")
    if claim is not None and claim.verdict is ClaimVerdict.INVALID:
        raise typer.Exit(int(ExitStatus.REFUSED))


def _claim(profile: "Profile", kernel: str, kind: str, kernel_gain: float | None, claimed: float | None) -> "Claim | None":
    from expctl.cli.profile.options import chosen_kernels
    from expctl.domain.errors import Misused
    from expctl.profiles.bottleneck.amdahl import check_claim

    if kernel_gain is None and claimed is None and not kernel and not kind:
        return None
    if kernel_gain is None or claimed is None or not (kernel or kind):
        raise Misused(
            "a claim needs three options",
            code="claim-incomplete",
            expected="--kernel REGEX or --class CLASS, --kernel-gain TIMES and --claimed PERCENT",
            found="some of them",
            hint="expctl profile bottleneck FILE --class GEMM --kernel-gain 1.3 --claimed 8",
        )
    chosen = chosen_kernels(profile.kernels, kernel, kind)
    share = 100 * sum(each.total_ns or 0 for each in chosen) / profile.total_ns
    return check_claim(share, kernel_gain, claimed)
