"""Does a patch take away a barrier or a wait? What goes wrong then shows seldom, so such a candidate is tested harder."""

import re

# Barriers, waits and fences of HIP, CUDA, the AMDGPU builtins and inline assembly.
WORDS = re.compile(
    r"__syncthreads|__syncwarp|\w*barrier\w*|s_waitcnt\w*|\w*wait_(?:group|all|prior)\w*|__threadfence\w*|\w*_fence\w*|bar\.sync",
    re.IGNORECASE,
)


def removed_synchronisation(patch: str) -> tuple[str, ...]:
    """The words that stand more often in the removed than in the added lines of a unified diff, comments left out."""
    balance: dict[str, int] = {}
    for line in patch.splitlines():
        if line[:1] not in "+-" or line.startswith(("+++", "---")) or not line:
            continue
        code = re.sub(r"//.*|/\*.*?\*/", "", line[1:])
        for word in WORDS.findall(code):
            balance[word] = balance.get(word, 0) + (1 if line[0] == "+" else -1)
    return tuple(sorted(word for word, count in balance.items() if count < 0))
