"""Secrets in what children say are masked, in what is quoted and in the log alike."""

import functools
import os
from pathlib import Path

from expctl.domain.patch.secrets import SECRET_NAME, VALUE_LENGTH_LEAST, masked, secret_spans

OVERLAP_BYTES = 4096
CHUNK_BYTES = 1 << 20


@functools.cache
def known_secrets() -> tuple[str, ...]:
    """Values in our own environment whose names say that they are secret."""
    return tuple(value for name, value in os.environ.items() if SECRET_NAME.search(name) and len(value) >= VALUE_LENGTH_LEAST)


def redacted(text: str) -> str:
    """`text` with asterisks where a secret stood."""
    return masked(text, known_secrets())


def redact_file(path: Path, *, since: int = 0) -> None:
    """The same for what a file holds from byte `since` on, in place and without changing its length: somebody may still write
    at its end. A file that is gone, or a link, is left alone.
    """
    values = [value.encode(errors="surrogateescape").decode("latin-1") for value in known_secrets()]
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return
    try:
        at = max(0, since)
        while chunk := os.pread(descriptor, CHUNK_BYTES, at):
            for start, end in secret_spans(chunk.decode("latin-1"), values):
                os.pwrite(descriptor, b"*" * (end - start), at + start)
            at += len(chunk) if len(chunk) < CHUNK_BYTES else CHUNK_BYTES - OVERLAP_BYTES
    finally:
        os.close(descriptor)
