"""Finds the barriers and waits that a patch removes.

Such a mistake rarely shows in a test, so the candidate is tested longer.
"""

import re

# Barriers, waits and fences of HIP, CUDA, the AMDGPU builtins and inline assembly.
WORDS = re.compile(
    r"__syncthreads|__syncwarp|\w*barrier\w*|\bsync(?=\(\))|s_waitcnt\w*|\w*wait_(?:group|all|prior)\w*|__threadfence\w*|\w*_fence\w*"
    r"|bar\.sync",
    re.IGNORECASE,
)


def removed_synchronisation(patch: str) -> tuple[str, ...]:
    """Return the barriers, waits and fences in the removed lines of a unified diff, sorted; those in comments are left out. One
    that the patch adds again elsewhere is returned too, because moving a barrier can be as wrong as removing it.
    """
    found: set[str] = set()
    for line in patch.splitlines():
        if line.startswith("-") and not line.startswith("---"):
            found.update(WORDS.findall(re.sub(r"//.*|/\*.*?\*/", "", line[1:])))
    return tuple(sorted(found))
