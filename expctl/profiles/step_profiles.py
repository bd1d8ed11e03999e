"""Keep and read the files that profilers write in the profile step of a run."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from expctl.domain.errors import Refused
from expctl.domain.experiment.record import Fact
from expctl.domain.experiment.rivals import RivalReport
from expctl.domain.run.step_result import Failed
from expctl.domain.text import one_line
from expctl.domain.verdict.samples import Side
from expctl.launcher.removal import remove_tree
from expctl.profiles.assemble.analysis import with_occupancy
from expctl.profiles.diff.run_change import compare_runs
from expctl.profiles.model.kernel_profile import Kernel, Source
from expctl.profiles.read_profile import read_profile
from expctl.profiles.rival_report import read_rivals
from expctl.profiles.step_facts import class_shares, facts_of


class StepProfiles:
    """The profiles of one experiment: `<folder>/<target>/<side>/<number>` holds the files of one profiler pass. A pass is one
    run of the program under the profiler. Pass 0 gives the times, later ones give counters.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def fresh(self, target: str, side: Side) -> Path:
        """Create and return an empty folder for the profiler passes of one side; files of an earlier profile are removed."""
        folder = self._folder / target / side
        remove_tree(folder)
        folder.mkdir(parents=True)
        return folder

    def unreadable(self, target: str, side: Side, number: int) -> str:
        """Return why the files of profiler pass `number` can't be read as a profile; "" if they can, or if there are none."""
        folder = self._pass(target, side, number)
        try:
            if _has_files(folder):
                read_profile(folder)
        except Refused as refusal:
            return one_line(f"{refusal.message}: {refusal.found}", 300)
        return ""

    def drop(self, target: str, side: Side, number: int) -> None:
        """Remove the files of profiler pass `number`, which has failed."""
        remove_tree(self._pass(target, side, number))

    def facts(self, target: str, side: Side, arch: str) -> tuple[Fact, ...]:
        """Return the figures of one side's profile that the record keeps; () if the profiler wrote no file. Raises Refused for
        an unreadable profile.
        """
        source, kernels = self._kernels(target, side, arch)
        return (*facts_of(kernels), *(class_shares(kernels) if source is Source.TORCH else ()))

    def calls(self, target: str, side: Side) -> dict[str, int]:
        """Return how often each kernel in one side's profile was called, most time first; {} if the profiler wrote no file.
        Raises Refused for an unreadable profile.
        """
        if not _has_files(self._pass(target, side, 0)):
            return {}
        return {kernel.name: kernel.calls for kernel in read_profile(self._pass(target, side, 0)).kernels}

    def why(self, target: str, arch: str) -> str:
        """Return one sentence on why the candidate's time differs from the baseline's; "" if the profiles don't tell."""
        sides = [self._kernels(target, side, arch)[1] for side in (Side.BASELINE, Side.CANDIDATE)]
        found = compare_runs(*sides) if all(sides) else None
        return found.why.sentence if found and found.why else ""

    def rivals(self, out: Path, arch: str) -> RivalReport | Failed:
        """Return what the rivals step on a GPU `arch` left in its output folder `out`, or Failed with the reason."""
        return read_rivals(out, arch=arch)

    def forget(self, target: str) -> None:
        """Remove all profile files of `target`: they are large, and the record keeps their figures."""
        remove_tree(self._folder / target)

    def _pass(self, target: str, side: Side, number: int) -> Path:
        return self._folder / target / side / str(number)

    def _kernels(self, target: str, side: Side, arch: str) -> tuple[Source | None, tuple[Kernel, ...]]:
        """Return what wrote pass 0, and its kernels with the counters of all passes; None and () if pass 0 wrote no file."""
        if not _has_files(self._pass(target, side, 0)):
            return None, ()
        profile = read_profile(self._pass(target, side, 0), arch=arch)
        others = [path for path in (self._folder / target / side).iterdir() if path.name != "0" and _has_files(path)]
        counted = [read_profile(path, arch=arch).kernels for path in others]
        return profile.source, with_occupancy(profile, [_joined(kernel, counted) for kernel in profile.kernels])


def _joined(kernel: Kernel, passes: Sequence[Sequence[Kernel]]) -> Kernel:
    found = dict(kernel.counters)
    for kernels in passes:
        found |= next((each.counters for each in kernels if each.name == kernel.name), {})
    return replace(kernel, counters=found)


def _has_files(folder: Path) -> bool:
    return any(path.is_file() for path in folder.rglob("*"))
