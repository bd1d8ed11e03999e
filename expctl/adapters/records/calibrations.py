"""Store calibrations (a machine's measurement noise) as JSON files, one per target and benchmark, in a folder per machine.

They lie in the user's state folder, where all clones on a machine share them, and are never committed.
"""

import os
import re
from pathlib import Path

from expctl.adapters.codec.decode import encode
from expctl.adapters.codec.record_codec import typed_json
from expctl.domain.errors import Refused
from expctl.domain.protocol.model import Benchmark
from expctl.domain.verdict.calibration import Calibration, benchmark_identity, implausible
from expctl.files import checked_json
from expctl.ports.measuring import Uncalibrated

FOLDER = "XDG_STATE_HOME"
NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]")


class FileCalibrations:
    """Reads and writes calibrations of the machine with the hash `fingerprint`, in files below `folder`. If `folder` is None,
    `read` finds nothing and `write` raises Refused.
    """

    def __init__(self, folder: Path | None, fingerprint: str) -> None:
        self._folder = folder / "expctl" / "calibrations" / fingerprint if folder is not None else None

    def read(self, target: str, benchmark: Benchmark) -> Calibration | Uncalibrated:
        """Return the stored noise of `target` measured with `benchmark`. Uncalibrated if there is none; it has a `reason` if
        the file is unreadable, damaged or implausible.
        """
        if self._folder is None:
            return Uncalibrated()
        path = self._path(self._folder, target, benchmark)
        try:
            found = typed_json(checked_json.sound_text(path), Calibration, where=str(path))
        except FileNotFoundError:
            return Uncalibrated()
        except OSError as error:
            return Uncalibrated(reason=f"{path}: {error.strerror}")
        except Refused as refusal:
            return Uncalibrated(reason=f"{path} is damaged or of another version: {refusal.found.splitlines()[0]}")
        except checked_json.Damaged as damage:
            return Uncalibrated(reason=f"{path} is damaged: {damage}")
        wrong = implausible(found, target, benchmark)
        return Uncalibrated(reason=f"{path}: {wrong}") if wrong else found

    def write(self, benchmark: Benchmark, calibration: Calibration) -> Path:
        """Write a calibration, replacing an older one; return its path. Raises Refused if the folder can't be written."""
        if self._folder is None:
            raise _unwritable("no home folder", "")
        path = self._path(self._folder, calibration.target, benchmark)
        try:
            checked_json.write(path, encode(calibration))
        except OSError as error:
            raise _unwritable(str(error.strerror), str(path.parent)) from error
        return path

    @staticmethod
    def _path(folder: Path, target: str, benchmark: Benchmark) -> Path:
        name = NOT_IN_NAMES.sub("_", target)[:60]
        return folder / f"{name}-{benchmark_identity(target, benchmark)}.json"


def state_folder() -> Path | None:
    """Return the user's state folder by the XDG base directory specification; None if the user has no home folder."""
    for text in (os.environ.get(FOLDER, ""), os.path.expanduser("~/.local/state")):
        if os.path.isabs(text):
            return Path(text)
    return None


def _unwritable(found: str, where: str) -> Refused:
    return Refused(
        "the calibration can't be saved",
        code="calibration-cannot-be-kept",
        expected="a folder that you may write",
        found=found,
        where=where,
        hint=f"set {FOLDER} to a folder that you may write, then run the same command again",
    )
