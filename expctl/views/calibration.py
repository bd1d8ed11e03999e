"""A calibration as text for a terminal."""

from expctl.domain.experiment.record import OBJECTIVE
from expctl.domain.verdict.calibration import AUTOCORRELATION_MOST, Calibration, SizeNoise

LOOKS_SHOWN = (10, 36)


def calibration_lines(calibration: Calibration, path: str) -> list[str]:
    """Return a calibration as lines of text: the noise of each size, the smallest effect that a run can detect, warnings.
    `path` is the file in which it is stored.
    """
    replaced = f", {calibration.tainted} more were tainted" if calibration.tainted else ""
    lines = [
        f"  {'rounds':<10} {calibration.rounds} of {calibration.round_s:.1f} s on {calibration.target}, "
        f"style {calibration.style}{replaced}"
    ]
    for name, noise in calibration.noise.items():
        lines += _size_lines(calibration, name, noise)
    return [*lines, *(f"  {'warning':<10} {text}" for text in warnings(calibration)), f"  {'kept in':<10} {path}"]


def warnings(calibration: Calibration) -> list[str]:
    """Return a sentence for each defect of a calibration that would distort verdicts. Defects are a size at which one side
    seems faster although both are the same build, and rounds that depend on those before.
    """
    found = []
    for name in calibration.biased():
        noise = calibration.noise[name]
        found.append(
            f"{name} favours a side: one build differs from itself by {noise.mean_percent:+.2f} % "
            f"[{noise.low_percent:+.2f}, {noise.high_percent:+.2f}], beyond .1 %; look at the harness before you trust a KEEP"
        )
    for name in calibration.remembering():
        found.append(
            f"{name}: neighbouring rounds are alike, autocorrelation {calibration.noise[name].autocorrelation:+.2f} where "
            f"{AUTOCORRELATION_MOST} is the most; a confirmation merges pairs of rounds already; longer rounds "
            "(quads or iterations in protocol.yaml) mend it"
        )
    return found


def _size_lines(calibration: Calibration, name: str, noise: SizeNoise) -> list[str]:
    detects = ", ".join(f"{calibration.mde_percent(n, name):.2f} % in {n}" for n in LOOKS_SHOWN)
    spread = f"   spread within a side {noise.spread_percent:.2f} %" if name != OBJECTIVE else ""
    error = calibration.autocorrelation_error
    return [
        f"  {name:<10} sd of a round {noise.sd_percent:.2f} %, detects {detects} rounds{spread}",
        f"  {'':<10} against itself {noise.mean_percent:+.2f} % [{noise.low_percent:+.2f}, {noise.high_percent:+.2f}], "
        f"autocorrelation {noise.autocorrelation:+.2f} (error {error:.2f})",
    ]
