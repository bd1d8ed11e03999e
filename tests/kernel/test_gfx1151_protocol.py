"""What our own protocol says of gfx1151: the profiler's command line, the variables that pass, the config that is timed."""

from pathlib import Path

import yaml

PROTOCOL = yaml.safe_load((Path(__file__).parents[2] / "protocol.yaml").read_text())
TARGET = PROTOCOL["targets"]["gfx1151"]


def test_the_profile_step_is_the_line_of_the_ledger_that_this_kernel_comes_from() -> None:
    line = "rocprofv3 --kernel-trace --stats -d {out}/rocprofv3 -o {id} -- {python} -u kernel/harness/profile_scaled_mm.py"
    assert " ".join(TARGET["profile"]["argv"]).startswith(f"{line} ")


def test_variables_that_change_what_is_measured_reach_the_steps() -> None:
    wanted = {"HIP_FORCE_CONFIG", "HSA_OVERRIDE_GFX_VERSION", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"}
    assert wanted <= set(PROTOCOL["environment"]["pass_through"])


def test_the_table_of_configs_decides_and_a_patch_cant_touch_it() -> None:
    assert "--config" not in TARGET["benchmark"]["argv"] + TARGET["profile"]["argv"]
    assert "kernel/harness" in PROTOCOL["harness"]
    assert not any("kernel/harness".startswith(folder) for folder in PROTOCOL["scope"])
