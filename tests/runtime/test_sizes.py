"""A size is written so that it is not 0 unless it is, and reads back as what it was."""

import re

import pytest

from grandplus.runtime.sizes import UNITS, size_text


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 bytes"),
        (1000, "1,000 bytes"),
        (1023, "1,023 bytes"),
        (1024, "1.00 KiB"),
        (2**20 - 1, "1,024.00 KiB"),
        (2**20, "1.00 MiB"),
        (16 * 2**30, "16.00 GiB"),
        (5 * 2**50, "5,120.00 TiB"),
    ],
)
def test_a_size_in_words(size, text):
    assert size_text(size) == text


@pytest.mark.parametrize("power", range(44))
def test_it_reads_back(power):
    for size in (2**power - 1, 2**power, 2**power + 1, 3 * 2**power):
        number, unit = size_text(size).split()
        factor = 1024 ** (1 + UNITS.index(unit)) if unit in UNITS else 1
        assert float(re.sub(",", "", number)) * factor == pytest.approx(size, rel=0.005)
