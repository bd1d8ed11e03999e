"""Read the profile at a path. It is the entry point for other packages."""

from contextlib import nullcontext
from pathlib import Path

from expctl.profiles.assemble.merge import assemble
from expctl.profiles.model.kernel_profile import Profile
from expctl.profiles.raw import refusals
from expctl.profiles.raw.dispatch_stats import recording
from expctl.profiles.run_folder import read_run


def read_profile(path: Path, *, arch: str = "", dispatches: bool = False) -> Profile:
    """Return the profile in one profiler file, or in a folder whose files belong to one program run.

    A non-empty `arch` (e.g. gfx942) replaces the GPU that the files name. With `dispatches`, the profile also has its single
    dispatches (`Profile.tracks`). Raises Refused when no file can be read, no kernel and no memory copy is found, or memory
    runs out.
    """
    try:
        with recording() if dispatches else nullcontext():
            profile = assemble(path, read_run(path), arch)
    except MemoryError:
        raise refusals.too_large(path) from None
    if not profile.kernels and not profile.copies:
        raise refusals.no_kernels(path, "no dispatch with times that begins before it ends", "profile again")
    return profile
