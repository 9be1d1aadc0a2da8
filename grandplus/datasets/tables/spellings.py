"""Ids that are written in two ways: whole numbers as floats, which are read, and others, which are refused.

pandas writes a column of whole numbers in which a value is missing as floats, and so does ``numpy.savetxt``. Two files
may also differ by zeros at the front, by case, by invisible characters, or by the form of Unicode. A node would then
be two nodes.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc

from grandplus.datasets.tables.table import Table
from grandplus.runtime.errors import GrandPlusError

_EXPONENT = r"^-?[0-9](\.[0-9]+)?[eE]\+[0-9]{2,3}$"  # 1e3 may be a name
_PARTS = r"^-?(?P<mantissa>[0-9](?:\.[0-9]+)?)[eE]\+(?P<exponent>[0-9]{2,3})$"
_FLOAT = rf"^-?[0-9]+\.0*$|{_EXPONENT}"
_PLAIN = r"^(0|-?[1-9][0-9]*)$"
_INVISIBLE = r"[\x{00AD}\x{200B}-\x{200F}\x{202A}-\x{202E}\x{2060}\x{FEFF}]"
_SPACES = r"[\s\x{00A0}\x{2000}-\x{200A}\x{202F}\x{3000}]+"
_MANY_DIGITS = 5  # of a number with zeros below them, to be doubted
_EXACT = 2.0**53  # greater floats aren't all whole numbers


def whole_numbers(values: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """Values as whole numbers, if all are whole numbers that are written as floats.

    Parameters
    ----------
    values : pyarrow array
        Of strings or floats.

    Returns
    -------
    pyarrow array
        Of int64; else what was given.

    Examples
    --------
    >>> whole_numbers(pa.array(["1.0", "2.000e+00"])).to_pylist(), whole_numbers(pa.array(["1.0", "2"])).to_pylist()
    ([1, 2], ['1.0', '2'])
    """
    floats = values
    if pa.types.is_integer(values.type):
        return values
    if not pa.types.is_floating(values.type):
        if not len(values) or not _are_floats(values[:1]) or not _are_floats(values):
            return values
        floats = values.cast(pa.float64())
    try:
        return floats.cast(pa.int64()) if (pc.max(pc.abs(floats)).as_py() or 0) <= _EXACT else values
    except pa.ArrowInvalid:  # a fraction
        return values


def spelled_out(values: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """Values with their exponents written out, if all are whole numbers: R writes 100000 as 1e+05.

    Parameters
    ----------
    values : pyarrow array
        Of strings.

    Returns
    -------
    pyarrow array
        Of strings; what was given if a value is no whole number, or none has an exponent.

    Examples
    --------
    >>> spelled_out(pa.array(["7", "1e+05"])).to_pylist(), spelled_out(pa.array(["x", "1e+05"])).to_pylist()
    (['7', '100000'], ['x', '1e+05'])
    """
    if not len(values) or not _may_have_exponents(values):
        return values
    short = pc.match_substring_regex(values, _EXPONENT)
    numbers = whole_numbers(pc.if_else(short, values, "0.0"))
    if not pa.types.is_integer(numbers.type):
        return values
    written_out = pc.if_else(short, numbers.cast(values.type), values)
    return written_out if pc.all(pc.match_substring_regex(written_out, _PLAIN)).as_py() else values


def check_not_rounded(values: pa.Array, line: Callable[[int], str], where: object) -> None:
    """Check that no id is a number that a program rounded: 1.23458e+06 has 6 digits of 7.

    1e+05 is shorter than 100000, and so may be exact. No program that writes all digits has a reason for a longer form,
    and numbers of at least 5 digits and zeros are rare.

    Parameters
    ----------
    values : pyarrow array
        Of strings.
    line : callable
        What to call a row in an error.
    where : object
        File and column, for errors.

    Raises
    ------
    GrandPlusError
        One is rounded.
    """
    if not len(values) or not _may_have_exponents(values):
        return
    parts = pc.extract_regex(values, _PARTS)
    mantissa, exponent = (pc.struct_field(parts, number) for number in (0, 1))
    length = pc.utf8_length(mantissa)
    digits = pc.subtract(length, pc.greater(length, 1).cast(length.type))  # without the point
    whole = pc.add(exponent.cast(length.type), 1)
    longer = pc.greater(pc.add(pc.add(length, pc.utf8_length(exponent)), 2), whole)
    rounded = pc.and_(pc.less(digits, whole), pc.or_(longer, pc.greater_equal(digits, _MANY_DIGITS)))
    row = pc.index(rounded, True).as_py()
    if row >= 0:
        shown = f"{line(row)} has the id {values[row]}, which is rounded"
        found = f"{shown}: it has {digits[row]} digits of {whole[row]}"
        raise GrandPlusError(found, where=where, expected="ids with all digits", fix="write ids as whole numbers")


def whole_text(text: str) -> str:
    """A whole number that is written as a float, as a whole number; else what was given.

    Examples
    --------
    >>> [whole_text(text) for text in ("7.0", "1.000e+01", "1.5", "x")]
    ['7', '10', '1.5', 'x']
    """
    whole = re.search(_FLOAT, text) and float(text).is_integer() and abs(float(text)) <= _EXACT
    return str(int(float(text))) if whole else text


def _may_have_exponents(values: pa.Array | pa.ChunkedArray) -> bool:
    return bool(pc.any(pc.match_substring(values, "+")).as_py())


def _are_floats(values: pa.Array | pa.ChunkedArray) -> bool:
    return bool(pc.all(pc.match_substring_regex(values, _FLOAT)).as_py())


def check_spellings(further: pa.Array, known: pa.Array, edges: Table, nodes: str) -> None:
    """Check that ids of edges aren't those of other nodes in another spelling.

    Parameters
    ----------
    further : pyarrow array
        The ids that are at one end of edges only, or that the node table lacks.
    known : pyarrow array
        The others, of the same type.
    edges : Table
    nodes : str
        What has the others.

    Raises
    ------
    GrandPlusError
        Two ids differ by case, by zeros at the front, by .0 at the end, by invisible characters or in the form of
        Unicode.
    """
    if not len(further) or not len(known) or pa.types.is_integer(further.type):
        return
    plain = without_spelling(known)
    position = pc.index_in(without_spelling(further), value_set=plain)
    alike = pc.drop_null(pc.if_else(pc.is_valid(position), further, None))
    if not len(alike):
        return
    other = known[pc.index(plain, without_spelling(alike[:1])[0]).as_py()].as_py()
    found = f"names node {alike[0].as_py()!a}, and {nodes} has {other!a}: one node, in two spellings"
    more = f" ({len(alike):,} such ids)" if len(alike) > 1 else ""
    fix = f"write ids alike in both; if these are two nodes, {nodes} needs a line for each"
    raise GrandPlusError(found + more, where=edges.file, fix=fix)


def are_spelled_alike(ids: pa.Array, known: pa.Array, *, spaces: bool = True) -> bool:
    """Whether some ids are known ones, at least in another spelling.

    Parameters
    ----------
    ids, known : pyarrow array of strings
    spaces : bool
        Whether spaces within an id count.

    Examples
    --------
    >>> are_spelled_alike(pa.array(["a 1"]), pa.array(["A1"])), are_spelled_alike(pa.array(["a"]), pa.array(["A"]))
    (False, True)
    """
    if not spaces:
        ids, known = (pc.replace_substring(texts, " ", "") for texts in (ids, known))
    return bool(pc.any(pc.is_in(without_spelling(ids), value_set=without_spelling(known))).as_py())


def without_spelling(texts: pa.Array) -> pa.Array:
    """Texts without that by which spellings of one name differ.

    Parameters
    ----------
    texts : pyarrow array
        Of strings or numbers.

    Returns
    -------
    pyarrow array of strings

    Examples
    --------
    >>> without_spelling(pa.array(["Café", "cafe\u0301", " New  York", "007", "7.0"])).to_pylist()
    ['café', 'café', 'new york', '7', '7']
    """
    text = pc.replace_substring_regex(texts.cast(pa.large_string()), _INVISIBLE, "")
    text = pc.utf8_trim_whitespace(pc.replace_substring_regex(text, _SPACES, " "))
    text = pc.utf8_lower(pc.utf8_normalize(text, form="NFC"))
    return pc.replace_substring_regex(pc.replace_substring_regex(text, r"^0+([0-9])", r"\1"), r"^([0-9]+)\.0+$", r"\1")
