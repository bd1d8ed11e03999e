"""What `expctl gate` prints, whole."""

from expctl.domain.machine.interference import Foreign
from expctl.domain.machine.waiting import WAYS_OUT, Load
from expctl.views.gate import gate_lines, status_gate_lines

ZIG = Load(name="zig", pid=411, user="ada", percent=97)

SENSORS = [("process", "looked at 9 for ncu", "", ""), ("device", "", "no card", ""), ("cpu", "", "", "no limit")]


def test_what_blocks_who_it_is_and_since_when_and_what_every_sensor_sees() -> None:
    blocking = (
        Foreign(
            sensor="lock", what="expctl is measuring", detail="P3", pid=7, who="expctl (pid 7)", since="2026-03-01T10:00:00Z"
        ),
        Foreign(sensor="process", what="\x1b[31mncu\n matches ncu"),
    )
    assert gate_lines("cpu", blocking, SENSORS) == [
        "blocked for cpu",
        "  lock       expctl is measuring: P3, expctl (pid 7), since 2026-03-01T10:00:00Z",
        "  process    ncu matches ncu",
        f"  next       {WAYS_OUT['process']}",
        "sensors",
        "  process    looked at 9 for ncu",
        "  device     absent: no card",
        "  cpu        not asked: no limit",
    ]


def test_a_loaded_machine_names_the_busiest_and_says_what_can_be_measured_there() -> None:
    lines = gate_lines("cpu", [Foreign(sensor="cpu", what="others use the CPU")], SENSORS, busiest=[ZIG], edited=True)
    assert lines[2] == "  busiest    zig (pid 411, ada) 97 % of a core"
    assert "others_percent" in lines[3]
    assert "calibrate" in lines[3]
    assert "not committed" in lines[4]


def test_status_says_what_only_the_gate_asks() -> None:
    assert status_gate_lines("cpu", (), (), edited=False) == ["  quiet for cpu"]
    lines = status_gate_lines("sm_90", (), ("nvidia-smi",), edited=True)
    assert lines[:2] == ["  nothing seen for sm_90", "  not asked  nvidia-smi: expctl gate asks"]
    assert "not committed" in lines[2]


def test_a_quiet_machine() -> None:
    assert gate_lines("cpu", (), [])[0] == "quiet for cpu"
