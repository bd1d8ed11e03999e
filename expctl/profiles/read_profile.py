"""Read a profile from a path; other packages enter here."""

from pathlib import Path

from expctl.profiles.assemble.merge import assemble
from expctl.profiles.model.kernel_profile import Profile
from expctl.profiles.raw import refusals
from expctl.profiles.run_folder import read_run


def read_profile(path: Path, *, arch: str = "") -> Profile:
    """Return the profile in a profiler's file, or in a folder whose files belong to one program run.

    A non-empty `arch` (`gfx942`) overrules the GPU that the files name. Raises Refused when nothing readable is there, no
    kernel and no copy is left, or memory runs out.
    """
    try:
        profile = assemble(path, read_run(path), arch)
    except MemoryError:
        raise refusals.too_large(path) from None
    if not profile.kernels and not profile.copies:
        raise refusals.no_kernels(path, "no dispatch with times that begins before it ends", "profile again")
    return profile
