"""Reads the settings of Linux that the audit of the environment looks at, from /proc and /sys."""

from pathlib import Path

from expctl.domain.environment.snapshot import Linux


def linux_facts(root: Path = Path("/")) -> Linux:
    """Return the settings of the Linux whose files lie below `root`."""
    policies = root / "sys/devices/system/cpu/cpufreq"
    return Linux(
        numa_balancing=word(root / "proc/sys/kernel/numa_balancing"),
        numa_nodes=len(list((root / "sys/devices/system/node").glob("node[0-9]*"))) or 1,
        governors=_words(policies, "scaling_governor"),
        preferences=_words(policies, "energy_performance_preference"),
        platform_profile=word(root / "sys/firmware/acpi/platform_profile"),
    )


def word(file: Path) -> str:
    """Return the text of `file` without the spaces around it; "" if it can't be read."""
    return text(file).strip()


def text(file: Path) -> str:
    """Return the text of `file`; "" if it can't be read."""
    try:
        return file.read_text(errors="replace")
    except OSError:
        return ""


def _words(folder: Path, name: str) -> tuple[str, ...]:
    return tuple(sorted({word(file) for file in folder.glob(f"policy*/{name}")} - {""}))
