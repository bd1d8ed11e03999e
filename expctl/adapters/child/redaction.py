"""Mask secrets in the output of children, both where it is quoted and in their logs."""

import functools
import os

from expctl.domain.patch.secrets import SECRET_NAME, VALUE_LENGTH_LEAST, masked, secret_spans

OVERLAP_BYTES = 4096
CHUNK_BYTES = 1 << 20


@functools.cache
def known_secrets() -> tuple[str, ...]:
    """Return the values of environment variables whose name contains token, secret, password or the like. Cached."""
    return tuple(value for name, value in os.environ.items() if SECRET_NAME.search(name) and len(value) >= VALUE_LENGTH_LEAST)


def redacted(text: str) -> str:
    """Return `text` with asterisks in place of known secrets and of everything that looks like a secret."""
    return masked(text, known_secrets())


def redact_file(descriptor: int, *, since: int = 0) -> None:
    """Mask secrets in a file, open for reading and writing, with asterisks, from byte `since` on, in place. Raises OSError."""
    values = [value.encode(errors="surrogateescape").decode("latin-1") for value in known_secrets()]
    at = max(0, since)
    while chunk := os.pread(descriptor, CHUNK_BYTES, at):
        for start, end in secret_spans(chunk.decode("latin-1"), values):
            os.pwrite(descriptor, b"*" * (end - start), at + start)
        at += len(chunk) if len(chunk) < CHUNK_BYTES else CHUNK_BYTES - OVERLAP_BYTES
