"""Read a file that somebody else's command left: a plain file of limited size, and no link."""

import os
import stat
from pathlib import Path

from expctl.domain.errors import Refused

LAYOUT = (
    "experiments/ID/experiment.yaml and experiments/ID/change.patch in the scratch folder, and nothing else below experiments"
)


def read_left(path: Path, limit: int, name: str = "") -> bytes:
    """Return the contents of a file. Raises Refused if it is a link, no plain file or larger than `limit` bytes."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise misplaced(f"{path.name} can't be opened as a plain file: {error.strerror}", name) from error
    try:
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode):
            raise misplaced(f"{path.name} is not a plain file", name)
        if facts.st_size > limit:
            raise misplaced(f"{path.name} has {facts.st_size} bytes, expected at most {limit}", name)
        with open(descriptor, "rb", closefd=False) as file:
            return file.read(limit)
    finally:
        os.close(descriptor)


def misplaced(found: str, name: str = "") -> Refused:
    """Return the refusal of what is no proposal; `name` is the folder below experiments, if there is one."""
    return Refused(
        "the proposer did not write exactly one proposal",
        code="proposer-left-no-proposal",
        expected=LAYOUT,
        found=found,
        where=f"experiments/{name}" if name else "experiments",
        hint="docs/QUEUE.md of expctl shows the files that a proposer writes",
    )
