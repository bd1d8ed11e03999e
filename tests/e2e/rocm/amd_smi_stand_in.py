"""What stands for amd-smi: answers what real ones answered, or fails the way they do, as the file MODE says.

`amd_smi_stand_in.py CALLS MODE WORDS...`. The JSON has the form of ROCm 7.2, cut to what
`metric --usage --temperature --clock --power` asks for: a Radeon, with made-up figures, and a Strix Halo, of which that
version says N/A to everything.
"""

import json
import os
import sys
import time
from pathlib import Path


def of(busy: object, edge: object, hotspot: object, clock: object, power: object) -> str:
    """The answer about one card; N/A stands for a figure that isn't there."""

    def figure(value: object, unit: str) -> object:
        return "N/A" if value == "N/A" else {"value": value, "unit": unit}

    card = {
        "gpu": 0,
        "usage": {"gfx_activity": figure(busy, "%"), "umc_activity": "N/A", "mm_activity": "N/A", "vcn_activity": ["N/A"] * 4},
        "power": {"socket_power": figure(power, "W"), "gfx_voltage": "N/A", "throttle_status": "N/A"},
        "clock": {"gfx_0": {"clk": figure(clock, "MHz"), "min_clk": "N/A", "max_clk": "N/A", "deep_sleep": "N/A"}},
        "temperature": {"edge": figure(edge, "C"), "hotspot": figure(hotspot, "C"), "mem": "N/A"},
    }
    return json.dumps({"gpu_data": [card]})


ANSWERS = {
    "idle": of(2, 38, 41, 600, 15),
    "busy": of(97, 60, 71, 2430, 210),
    "nothing known": of(*["N/A"] * 5),
    "garbage": "\x1b[31mAMD-SMI 26.2.1 {gpu_data: N/A",
    "another form": '{"gpu_data": {"0": []}}',
}


def main() -> int:
    """The exit status."""
    mode_file = Path(sys.argv[2])
    mode = mode_file.read_text() if os.path.exists(mode_file) else "idle"
    if mode == "hang":
        time.sleep(600)
    if mode == "crash":
        print("amdsmi_cli_exceptions.AmdSmiInvalidParameterException: ... Error code: -10", file=sys.stderr)
        os.abort()
    if mode == "no driver":
        print("ERROR:root:Unable to detect any GPU devices, check amdgpu version and module status (sudo modprobe amdgpu)")
        return 255
    print(ANSWERS[mode])
    return 0


if __name__ == "__main__":
    sys.exit(main())
