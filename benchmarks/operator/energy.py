"""The energy that an NVIDIA GPU has used, by the driver's own meter (NVML; Volta and later)."""

from __future__ import annotations

import ctypes

LIBRARY = "libnvidia-ml.so.1"


class EnergyMeter:
    """Reads the meter of the GPU with this `uuid` ("GPU-..."). `library` is the driver's."""

    def __init__(self, uuid: str, library: str = LIBRARY) -> None:
        """Raises RuntimeError where the library or the meter is missing."""
        try:
            self._nvml = ctypes.CDLL(library)
        except OSError as error:
            raise RuntimeError(f"no energy is known: {error}") from None
        self._device = ctypes.c_void_p()
        self._do("nvmlInit_v2")
        self._do("nvmlDeviceGetHandleByUUID", uuid.encode(), ctypes.byref(self._device))
        self.joules()

    def joules(self) -> float:
        """Return the joules since the driver was loaded; the meter moves about every 20 to 100 ms. Raises RuntimeError."""
        used_mj = ctypes.c_ulonglong()
        self._do("nvmlDeviceGetTotalEnergyConsumption", self._device, ctypes.byref(used_mj))
        return used_mj.value / 1e3

    def _do(self, function: str, *arguments: object) -> None:
        status = getattr(self._nvml, function)(*arguments)
        if status:
            raise RuntimeError(f"no energy is known: {function} of {self._nvml._name} returned {status}")
