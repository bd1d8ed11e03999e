"""What the library must do with arrays of numpy, torch and cupy: copy, poison, compare and read them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

FLOAT_POISON, INTEGER_POISON = 0xFF, 0xA5
"""The byte of which an output is made before a call. In any floating-point type it makes a NaN that no arithmetic gives."""


def family(value: object) -> str:
    """Return `numpy`, `torch` or `cupy` for an array of that package, `device` for a DeviceArray, else an empty text."""
    module = type(value).__module__.partition(".")[0]
    is_array = isinstance(value, np.ndarray) or (module in ("torch", "cupy") and hasattr(value, "shape"))
    if is_array:
        return module if module in ("torch", "cupy") else "numpy"
    return "device" if type(value).__name__ == "DeviceArray" else ""


def device(value: Any) -> str:
    """Return `gpu` for an array on a CUDA or HIP device, `cpu` for one in host memory, else the name of its device."""
    kind = value.device.type if family(value) == "torch" else family(value)
    return {"cuda": "gpu", "cupy": "gpu", "numpy": "cpu"}.get(kind, kind)


def is_number(value: object) -> bool:
    """Return whether `value` is one number."""
    return isinstance(value, int | float | complex | np.number | np.bool_)


def copy_of(value: Any) -> Any:
    """Return a copy of an array; anything else itself."""
    return value.clone() if family(value) == "torch" else value.copy() if family(value) else value


def to_host(value: Any) -> Array:
    """Return a numpy array with the values of an array, a number or a list; perhaps a view. bfloat16 becomes float32."""
    kind = family(value)
    if kind == "cupy":
        return np.asarray(value.get())
    if kind != "torch":
        return np.asarray(value)
    tensor = value.detach().cpu()
    try:
        return np.asarray(tensor.numpy())
    except TypeError:  # a type that numpy lacks
        return _widened(tensor)


def _widened(tensor: Any) -> Array:
    import torch

    if tensor.dtype is not torch.bfloat16:
        return np.asarray(tensor.to(torch.float32).numpy())
    halves = tensor.contiguous().view(torch.int16).numpy().view(np.uint16)
    words = np.where(halves == 0xFFFF, np.uint32(0xFFFFFFFF), halves.astype(np.uint32) << 16)  # the poison stays the poison
    return np.asarray(words.astype(np.uint32).view(np.float32))


def epsilon(value: Any) -> float:
    """Return the relative distance of neighbouring numbers in the type of `value`; 0 for integers."""
    if family(value) == "torch" and (value.is_floating_point() or value.is_complex()):
        import torch

        return float(torch.finfo(value.dtype).eps)
    dtype = to_host(value).dtype
    return float(np.finfo(dtype).eps) if dtype.kind in "fc" else 0.0


def type_name(value: Any) -> str:
    """Return the name of the type of an array's elements, else of the value: `float16`, `str`."""
    return str(value.dtype).removeprefix("torch.") if hasattr(value, "dtype") else type(value).__name__


def described(value: Any) -> str:
    """Return `float64 (3, 4)` for an array, else the type and the value."""
    if family(value):
        return f"{type_name(value)} {tuple(value.shape)}"
    return "nothing (None)" if value is None else f"{type(value).__name__} {str(value)[:40]}"


def bytes_of(value: Any) -> Any:
    """Return a view of the bytes of a contiguous array, in its own package."""
    if family(value) == "torch":
        import torch

        return value.reshape(-1).view(torch.uint8)
    return value.reshape(-1).view(np.uint8)


def is_contiguous(value: Any) -> bool:
    """Return whether the elements lie in C order without gaps."""
    if family(value) == "device":
        return True
    return bool(value.is_contiguous()) if family(value) == "torch" else bool(value.flags.c_contiguous)


def poison_byte(value: Any) -> int | None:
    """Return the byte that poisons an array of this type; None for booleans, of which each value could be right."""
    name = type_name(value)
    return None if name.startswith("bool") else INTEGER_POISON if "int" in name else FLOAT_POISON


def poison(value: Any) -> None:
    """Fill a contiguous array with its poison."""
    byte = poison_byte(value)
    if byte is not None and bytes_of(value).shape[0]:
        bytes_of(value)[...] = byte


def is_poison(host: Array, byte: int | None) -> NDArray[np.bool_]:
    """Return which elements of `host` consist of `byte`, as an array of its shape."""
    if byte is None or not host.size:
        return np.zeros(host.shape, np.bool_)
    raw = np.ascontiguousarray(host).reshape(-1).view(np.uint8).reshape(-1, host.itemsize)
    return np.asarray((raw == byte).all(axis=1)).reshape(host.shape)


def same_bits(one: Any, other: Any) -> bool:
    """Return whether two values have one type, shape and bits; of anything but arrays, whether they are equal."""
    if not family(one):
        return bool(one == other)
    if type_name(one) != type_name(other) or tuple(one.shape) != tuple(other.shape):
        return False
    return to_host(one).tobytes() == to_host(other).tobytes()


def address(value: Any) -> int:
    """Return the address of an array's first element, on its device."""
    kind = family(value)
    if kind == "device":
        return int(value.address)
    return int(value.data_ptr() if kind == "torch" else value.data.ptr if kind == "cupy" else value.ctypes.data)


def overlap(one: Any, other: Any) -> bool:
    """Return whether two arrays may share memory."""
    if family(one) != family(other) or not family(one):
        return False
    first, second = address(one), address(other)
    return bool(first < second + other.nbytes and second < first + one.nbytes)
