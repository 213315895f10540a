# SPDX-License-Identifier: Apache-2.0
"""What callers give, as arrays over the caller's own memory, or as copies where that cannot be."""

import numbers
import os
import sys
import warnings

import numpy as np

# From here on a call starts threads of its own, unless it is told how many.
_PARALLEL_FROM = 1 << 17
_MOST_THREADS = 1024


def view(value, name):
    """`value` as a NumPy array, over the same memory where `value` has numbers in memory at all.

    value: an ndarray; anything with the buffer protocol (memoryview, array.array), with `__array__`
      (a tensor of torch on the CPU, a pandas Series) or with `__dlpack__` on the CPU; or nested
      lists of numbers.
    Raises TypeError for what is no array of numbers, ValueError for ragged lists, masked values and
    memory of another device.
    """
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        raise ValueError(f"{name} has masked values; give them weight 0 instead")
    try:
        if hasattr(value, "__dlpack__") and not hasattr(value, "__array__"):
            array = np.from_dlpack(value)
        else:
            array = np.asarray(value)
    except (BufferError, RuntimeError, TypeError) as error:
        if getattr(value, "requires_grad", False):
            raise TypeError(f"{name} is a tensor that needs gradients; use assay.torch.isotonic") from error
        raise TypeError(f"{name} is a {type(value).__name__} that cannot be read on the CPU: {error}") from error
    if array.dtype.kind not in "fiub" or array.dtype.itemsize > 8:
        raise TypeError(f"{name} holds {array.dtype}, expected floats of 16, 32 or 64 bits, integers or bool")
    return array


def writable(value, name):
    """`view` of something to write to. DLPack knows no read-only memory, yet NumPy locks such views."""
    array = view(value, name)
    if isinstance(value, (list, tuple)):
        raise TypeError(f"{name} is a {type(value).__name__}, expected an array")
    if hasattr(value, "__dlpack__") and not hasattr(value, "__array__"):
        array = np.asarray(_Unlocked(array))
    if not array.flags.writeable:
        raise ValueError(f"{name} is read-only")
    return array


class _Unlocked:
    def __init__(self, array):
        interface = dict(array.__array_interface__)
        interface["data"] = (interface["data"][0], False)
        self.__array_interface__ = interface
        self.array = array  # keeps the memory


def is_direct(array, dtype):
    """Whether C++ reads `array` as `dtype` where it lies, with any strides."""
    return array.dtype == dtype and array.flags.aligned


def laid_out(array, dtype, name, allow_copy, contiguous=False, given=None):
    """`array` itself where C++ can read it as `dtype`, and otherwise a copy, if that is allowed.

    contiguous: rows must have no gaps.
    given: what the caller gave, to tell lists from arrays.
    Raises ValueError, saying why a copy would be needed, if `allow_copy` is false.
    """
    dtype = np.dtype(dtype)
    reason = None
    if isinstance(given, (list, tuple, numbers.Number)):
        reason = f"is a {type(given).__name__}"
    elif not array.dtype.isnative:
        reason = "has the byte order of another machine"
    elif array.dtype != dtype:
        reason = f"holds {array.dtype}, and the work is done in {dtype}"
    elif not array.flags.aligned:
        reason = "is not aligned in memory"
    elif contiguous and array.shape[-1] > 1 and array.strides[-1] != dtype.itemsize:
        reason = "has gaps between the elements of a row"
    if reason is None:
        return array
    if not allow_copy:
        raise ValueError(f"{name} {reason}: that needs a copy, and allow_copy is False")
    return np.require(array, dtype=dtype, requirements=["C", "A"])


def thread_count(threads, elements):
    """How many threads work on `elements`: as told, or by None all of this process's CPUs where it pays."""
    if threads is None:
        return len(os.sched_getaffinity(0)) if elements >= _PARALLEL_FROM else 1
    if isinstance(threads, (bool, np.bool_)) or not isinstance(threads, numbers.Integral):
        raise TypeError(f"threads is {threads!r}, expected None or a number of threads")
    if not 1 <= threads <= _MOST_THREADS:
        raise ValueError(f"threads is {threads}, expected 1 to {_MOST_THREADS}")
    return int(threads)


def bound(value, infinite, name):
    """A bound of the fit as a float; None means none, which is the infinity `infinite`."""
    if value is None:
        return infinite
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name} is {value!r}, expected None or a number")
    return float(value)


def choice(choices, value, name):
    """What `value`, a name, stands for."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} is {value!r}, expected one of {', '.join(map(repr, choices))}")
    return choices[value]


def warn(message, kind=UserWarning):
    """Warns, in the name of the line that called into this package."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] == "assay":
        level, frame = level + 1, frame.f_back
    warnings.warn(message, kind, stacklevel=level)
