"""git's stable patch ids, each asked once: a proposal is compared with all that wait, and a process of git takes 2 ms."""

import hashlib
import re
from collections.abc import Callable, Sequence

from expctl.adapters.git.patch_header import with_headers

KEPT_MAX = 4096
COMMIT = re.compile(rb"^(?:commit |From |diff-tree )?[0-9a-fA-F]{40}", re.MULTILINE)
"""What `git patch-id` takes for the begin of another patch."""

_known: dict[bytes, str] = {}  # sha256 of a patch -> its id


def patch_ids(patches: Sequence[bytes], ask: Callable[[bytes], bytes]) -> list[str]:
    """Return the id of each patch, empty for one without a change. `ask` returns what `git patch-id --stable` says of a text:
    of all that aren't known at once, but for those that say themselves where a patch begins.
    """
    keys = [hashlib.sha256(patch).digest() for patch in patches]
    new = {key: with_headers(patch) for key, patch in zip(keys, patches, strict=True) if key not in _known}
    if len(_known) + len(new) > KEPT_MAX:
        _known.clear()
        new = {key: with_headers(patch) for key, patch in zip(keys, patches, strict=True)}
    several = {key: text for key, text in new.items() if not COMMIT.search(text)}
    parts = [b"commit %b\n%b\n" % (key.hex().encode(), text) for key, text in several.items()]
    words = ask(b"".join(parts)).decode().split() if parts else []
    found = dict(zip(words[1::2], words[::2], strict=True))  # ids by as many digits of the key as an id has
    size = len(next(iter(found), ""))
    _known.update({key: found.get(key.hex()[:size], "") for key in several})
    for key in new.keys() - several.keys():
        words = ask(new[key]).decode().split()
        _known[key] = words[0] if words else ""
    return [_known[key] for key in keys]
