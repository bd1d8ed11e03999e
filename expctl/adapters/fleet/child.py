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
from expctl.ports.fleet import Stumbled

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
        atomic_write.replace(file, pack)
        with open(log, "wb") as errors:
            process = start_own(argv, cwd=folder, environment=environment, stderr=errors)
    except OSError as error:
        with contextlib.suppress(OSError):
            file.unlink()
        yield heard_bytes(
            Stumbled(
                device=asked.device,
                id=asked.id,
                attempt=asked.attempt,
                kind="MachineTrouble",
                message="the job could not be begun in the worker's folder",
                found=error.strerror or str(error),
                where=str(folder),
            )
        )
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
        yield heard_bytes(
            Stumbled(
                device=asked.device,
                id=asked.id,
                attempt=asked.attempt,
                kind="bug",
                message=f"the worker's process ended with status {process.returncode}",
                found=tail,
                where=str(log),
            )
        )
