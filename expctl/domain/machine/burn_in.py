"""The burn-in of a GPU before a confirmation: what is read of the device, and how it ended."""

from msgspec import Struct


class DeviceReading(Struct, frozen=True, kw_only=True):
    """Clock (MHz), temperature (C) and load (%) of one device at `at_s`, in monotonic seconds."""

    device: str
    at_s: float
    clock_mhz: float
    temperature_c: float
    busy_percent: float = 0.0


class BurnIn(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a burn-in ended, after `seconds`: the device's median clock (MHz) and temperature (C) in its last window.

    `steady`: both had settled. `trouble` says why neither is known, and both are 0 then.
    """

    seconds: float
    steady: bool = False
    clock_mhz: float = 0.0
    temperature_c: float = 0.0
    trouble: str = ""

    def __str__(self) -> str:
        if self.trouble:
            return f"at an unknown clock and temperature: {self.trouble}"
        state = f"at {self.clock_mhz:,.0f} MHz, {self.temperature_c:.0f} C"
        return f"{state}, after {self.seconds:.0f} s" if self.steady else f"{state}, not steady after {self.seconds:.0f} s"
