"""Which patches take a barrier or a wait away."""

import pytest

from expctl.domain.patch.synchronisation import removed_synchronisation

HEAD = "--- a/k.h\n+++ b/k.h\n@@ -1,3 +1,3 @@\n"


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        ("-  __syncthreads();\n", ("__syncthreads",)),
        ("-  __builtin_amdgcn_s_barrier();\n", ("__builtin_amdgcn_s_barrier",)),
        ("-  s_waitcnt lgkmcnt(0)\n+  s_nop 0\n", ("s_waitcnt",)),
        ("-  __syncthreads();\n+  if (last) __syncthreads();\n", ("__syncthreads",)),
        ("-  block.sync();\n", ("sync",)),
        ("-  __syncthreads();\n-  x = 1;\n+  x = 1;\n+  __syncthreads();\n", ("__syncthreads",)),
        ("-  // __syncthreads();\n", ()),
        ("+  __syncthreads();\n", ()),
        ("   __syncthreads();\n-  x = 1;\n", ()),
        ("-  cp_async_wait_group<0>();\n", ("cp_async_wait_group",)),
        ("-  BARRIER(tile);\n-  BARRIER(tile);\n+  BARRIER(tile);\n", ("BARRIER",)),
    ],
)
def test_a_patch(lines: str, found: tuple[str, ...]) -> None:
    assert removed_synchronisation(HEAD + lines) == found
