"""Check how large a file the user's shell lets expctl and its children write (`ulimit -f`)."""

import resource

from expctl.domain.errors import MachineTrouble
from expctl.domain.machine.os_errors import AGAIN

FILE_BYTES_LEAST = 256 << 20
"""What builds, logs and git's packs may need. Our choice: a child's log alone may grow to 64 MiB."""


def raise_file_limit() -> None:
    """Let this process write files as large as the hard limit permits. Raises MachineTrouble if that is under 256 MiB: a build
    that can't be written would be blamed on the proposal, and git would be killed in the middle of a commit.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    if hard != resource.RLIM_INFINITY and hard < FILE_BYTES_LEAST:
        raise MachineTrouble(
            "files may not grow as large as builds and git need",
            code="file-size-limited",
            expected=f"`ulimit -Hf` of unlimited, or of {FILE_BYTES_LEAST >> 20} MiB at least",
            found=f"{hard} bytes",
            hint=f"start a shell without that limit (ulimit -f, limits.conf, the job's settings), then {AGAIN}",
        )
    if soft != hard:
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
