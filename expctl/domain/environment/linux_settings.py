"""Items on Linux itself: NUMA balancing, the CPU's clock policy, the platform's power profile."""

from collections.abc import Iterable

from expctl.domain.environment.item import Item, Seen, good, poor
from expctl.domain.environment.snapshot import Snapshot


def _numa(snapshot: Snapshot) -> Iterable[Seen]:
    linux = snapshot.linux
    if linux.numa_balancing == "0":
        yield good("off")
    elif linux.numa_nodes < 2:
        yield good("on, but this machine has one node, so nothing moves")
    else:
        yield poor(f"on, and this machine has {linux.numa_nodes} nodes")


def _governor(snapshot: Snapshot) -> Iterable[Seen]:
    linux = snapshot.linux
    text = ", ".join((*linux.governors, *(f"prefers {each}" for each in linux.preferences)))
    steady = set(linux.governors) == {"performance"} or set(linux.preferences) == {"performance"}
    yield good(text) if steady else poor(text)


def _platform(snapshot: Snapshot) -> Iterable[Seen]:
    profile = snapshot.linux.platform_profile
    yield good(profile) if profile == "performance" else poor(f"{profile}, not performance")


ITEMS = (
    Item(
        name="NUMA balancing",
        where="Linux",
        why="the kernel unmaps pages to see who uses them and moves them between nodes, while a launch is timed",
        fix="sudo sh -c 'echo 0 > /proc/sys/kernel/numa_balancing'",
        applies=lambda snapshot: bool(snapshot.linux.numa_balancing),
        look=_numa,
    ),
    Item(
        name="clock policy of the CPU",
        where="Linux",
        why="the clock follows the load, so the same code, and the CPU's part of a launch, takes longer after a pause",
        fix="sudo cpupower frequency-set -g performance",
        applies=lambda snapshot: bool(snapshot.linux.governors),
        look=_governor,
    ),
    Item(
        name="power profile of the platform",
        where="Linux",
        why="on an APU the firmware's profile is the power limit of CPU and GPU together",
        fix="echo performance | sudo tee /sys/firmware/acpi/platform_profile",
        applies=lambda snapshot: bool(snapshot.linux.platform_profile),
        look=_platform,
    ),
)
