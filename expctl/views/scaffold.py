"""A protocol.yaml to begin with, for a repository that has none."""

import json

TEMPLATE = """\
# What is non-negotiable about measuring this kernel. expctl reads it from the baseline commit, never from the work tree.
# The scripts below speak to expctl as docs/HARNESS.md of expctl says: JSON lines on the descriptor EXPCTL_RESULT_FD.
version: 1
name: {name}
goal: say what better means here

scope: [{scope}]        # what a patch may touch
harness: [{harness}]    # what judges it: a patch may not
decides: [here]

gate:
  patterns: ["benchmark_*", "profile_*", rocprofv3]   # somebody else's work that must not run meanwhile
  wait_s: 60
  quiet_s: 1
  others_percent: 40       # what others may take of the core that wall times are measured on; 0: not judged
  slow_clock_percent: 10   # a launch below the session's clock is measured again; 0: not judged

targets:
  here:
    build:
      toolchain: command      # or zig-cpu, hipcc, nvcc with `source`, `flags` and `arch`
      argv: {build}
      artifact: {artifact}
    test: {{argv: ["{{python}}", {harness_test}, "{{artifact}}"], timeout_s: 300}}
    benchmark:
      argv: ["{{python}}", {harness_benchmark}, "{{artifact}}"]
      timeout_s: 300
      style: fine             # two pinned workers in short quads; `launch` for GPUs: four fresh processes a round
      rounds: 46              # at most; most verdicts need fewer
      quads: 8
      iterations: 2
      sizes:                  # the names that the benchmark is asked for; weights sum to 1; flop gives throughput
        - {{name: "n=1024", weight: 1, flop: 0}}
"""


def protocol_text(*, name: str, scope: str, harness: str, build: tuple[str, ...], artifact: str) -> str:
    """The file's text. Words are quoted as JSON, which YAML reads too."""
    return TEMPLATE.format(
        name=json.dumps(name, ensure_ascii=False),
        scope=json.dumps(scope, ensure_ascii=False),
        harness=json.dumps(harness, ensure_ascii=False),
        build=json.dumps(list(build), ensure_ascii=False),
        artifact=json.dumps(artifact, ensure_ascii=False),
        harness_test=json.dumps(f"{harness}/test.py", ensure_ascii=False),
        harness_benchmark=json.dumps(f"{harness}/benchmark.py", ensure_ascii=False),
    )
