"""Keep the result of the walls' self-test while nothing can have changed it: this boot, this code, these rights of the user."""

import contextlib
import hashlib
import json
import os
import sys
from pathlib import Path

import msgspec
from msgspec import Struct

from expctl.adapters.walls.self_test import try_walls
from expctl.domain.machine.walls import Walls
from expctl.files import checked_json
from expctl.launcher import capabilities
from expctl.launcher.devices import has_gpu
from expctl.launcher.process import boot_id

FACTS = ("CapEff", "CapPrm", "CapBnd", "NoNewPrivs", "Seccomp", "Seccomp_filters")
CODE = (Path(capabilities.__file__).parent, Path(__file__).parent)


class _Kept(Struct, frozen=True, forbid_unknown_fields=True):
    of: str
    walls: Walls


def walls_here(folder: Path | None) -> Walls:
    """Return the result of the self-test: that in the user's state folder, if it is of this boot, code and user; else a new
    one, which is stored there. A damaged file counts as missing, and so does `folder` None. Raises MachineTrouble.
    """
    file = folder / "expctl" / "walls.json" if folder is not None else None
    key = _key()
    if file is not None:
        with contextlib.suppress(OSError, checked_json.Damaged, msgspec.ValidationError):
            found = msgspec.json.decode(checked_json.sound_text(file), type=_Kept)
            if found.of == key:
                return found.walls
    walls = try_walls()
    if file is not None:
        with contextlib.suppress(OSError):  # it is made again then
            file.parent.mkdir(parents=True, exist_ok=True)
            checked_json.write(file, msgspec.to_builtins(_Kept(key, walls)))
    return walls


def _key() -> str:
    """Return a hash of all on which the result depends."""
    code = [each.read_bytes().hex() for folder in CODE for each in sorted(folder.glob("*.py"))]
    status = dict(line.split(":\t", 1) for line in Path("/proc/self/status").read_text().splitlines() if ":\t" in line)
    spaces = [os.readlink(f"/proc/self/ns/{kind}") for kind in ("user", "mnt", "net")]
    rights = [os.geteuid(), *(status.get(name, "") for name in FACTS), *spaces]
    here = [boot_id(), capabilities.detect_capabilities().words(), has_gpu(), sys.executable]
    return hashlib.sha256(json.dumps([code, rights, here]).encode()).hexdigest()
