"""What `expctl gate` prints, whole."""

from expctl.domain.machine.interference import Foreign
from expctl.views.gate import gate_lines

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
        "sensors",
        "  process    looked at 9 for ncu",
        "  device     absent: no card",
        "  cpu        not asked: no limit",
    ]


def test_a_quiet_machine() -> None:
    assert gate_lines("cpu", (), [])[0] == "quiet for cpu"
