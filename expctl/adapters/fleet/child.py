"""Do one job of a worker in a process of its own, `expctl fleet work`, and pass on what that says, line by line."""

import contextlib
import os
import sys
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path

from expctl.adapters.fleet.wire import heard_bytes, job_of
from expctl.files import atomic_write
from expctl.launcher.running import start_own
from expctl.ports.fleet import Job, Stumbled

LOG_TAIL = 600


def lines_of(folder: Path, job: bytes, pack: bytes, variables: Mapping[str, str]) -> Iterator[bytes]:
    """Yield the lines of the job `job`, done in the worker's folder `folder` with `variables` besides the environment. The last
    one says how it ended, also if the process dies.
    """
    asked, log = job_of(job), folder / "log"
    file = folder / f"{uuid.uuid4().hex}.pack"
    environment = {name: text for name, text in os.environ.items() if not name.startswith("RAY_")} | dict(variables)
    argv = [sys.executable, "-m", "expctl", "fleet", "work", str(folder), str(file)]
    try:
        for left in folder.glob("*.pack"):  # of a worker that was killed
            left.unlink(missing_ok=True)
        atomic_write.replace(file, pack)
        with open(log, "wb") as errors:
            process = start_own(argv, cwd=folder, environment=environment, stderr=errors)
    except OSError as error:
        with contextlib.suppress(OSError):
            file.unlink()
        message = "the job could not be begun in the worker's folder"
        yield _stumbled(asked, "MachineTrouble", message, found=error.strerror or str(error), where=folder)
        return
    assert process.stdin is not None  # noqa: S101  both are pipes
    assert process.stdout is not None  # noqa: S101
    ended = False
    try:
        process.stdin.write(job)
        process.stdin.close()
        for line in process.stdout:
            ended = line.startswith((b'{"type": "Finished"', b'{"type": "Offered"', b'{"type": "Stumbled"'))
            yield line
    finally:
        if process.poll() is None:
            process.kill() if not ended else process.wait()
        process.wait()
        process.stdout.close()
        file.unlink(missing_ok=True)
    if not ended:
        tail = log.read_text(errors="replace")[-LOG_TAIL:].strip()
        yield _stumbled(asked, "bug", f"the worker's process ended with status {process.returncode}", found=tail, where=log)


def _stumbled(job: Job, kind: str, message: str, *, found: str, where: Path) -> bytes:
    return heard_bytes(
        Stumbled(device=job.device, id=job.id, attempt=job.attempt, kind=kind, message=message, found=found, where=str(where))
    )
