"""Does a patch touch a barrier or a wait? What goes wrong then shows seldom, so such a candidate is tested harder."""

import re

# Barriers, waits and fences of HIP, CUDA, the AMDGPU builtins and inline assembly.
WORDS = re.compile(
    r"__syncthreads|__syncwarp|\w*barrier\w*|\bsync(?=\(\))|s_waitcnt\w*|\w*wait_(?:group|all|prior)\w*|__threadfence\w*|\w*_fence\w*"
    r"|bar\.sync",
    re.IGNORECASE,
)


def removed_synchronisation(patch: str) -> tuple[str, ...]:
    """The words in removed lines of a unified diff, comments left out: a barrier that comes back elsewhere, or under a
    condition, was moved, and that can be as wrong as taking it away."""
    found: set[str] = set()
    for line in patch.splitlines():
        if line.startswith("-") and not line.startswith("---"):
            found.update(WORDS.findall(re.sub(r"//.*|/\*.*?\*/", "", line[1:])))
    return tuple(sorted(found))
