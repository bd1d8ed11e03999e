"""Files whose last bytes are the SHA-256 of all before them, so that damage is seen before their contents are believed.

For caches alone: they are written without fsync, because what a power cut leaves of one is seen as damage.
"""

import hashlib
import os
from pathlib import Path

SEAL = hashlib.sha256().digest_size
PART = 1 << 18  # bytes read at a time


def is_sound(file: Path) -> bool:
    """Return whether `file` is as `write` left it; False if there is none. Raises OSError if it can't be read."""
    if not file.is_file():  # a named pipe would keep the reader waiting
        return False
    with open(file, "rb", buffering=0) as opened:
        left = os.fstat(opened.fileno()).st_size - SEAL
        if left < 0:
            return False
        found, buffer = hashlib.sha256(), memoryview(bytearray(PART))
        while left > 0:
            got = opened.readinto(buffer[: min(left, PART)])
            if not got:
                return False
            found.update(buffer[:got])
            left -= got
        return opened.read() == found.digest()


def write(file: Path, contents: bytes) -> None:
    """Replace `file` by `contents` and their seal, in one step for whoever reads it. Raises OSError."""
    file.parent.mkdir(parents=True, exist_ok=True)
    temporary = file.with_name(f".{file.name}.{os.getpid()}.{os.urandom(6).hex()}.new")
    try:
        with open(temporary, "wb") as opened:
            opened.write(contents)
            opened.write(hashlib.sha256(contents).digest())
        os.rename(temporary, file)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
