"""Memory that is used again."""

import numpy as np

from grandplus.methods.grandplus.fused.memory import LINE, Memory


def test_an_array_has_its_shape_and_type_and_begins_a_cache_line():
    memory = Memory()
    for size in (3, 100, 7, 0):
        array = memory.array("a", size, 5, dtype=np.int32)
        assert (array.shape, array.dtype) == ((size, 5), np.int32)
        assert array.ctypes.data % LINE == 0


def test_only_a_larger_array_takes_new_memory():
    memory = Memory()
    first = memory.array("a", 10)
    assert np.shares_memory(first, memory.array("a", 9))
    assert not np.shares_memory(first, memory.array("a", 11))


def test_names_are_apart():
    memory = Memory()
    assert not np.shares_memory(memory.array("a", 10), memory.array("b", 10))
