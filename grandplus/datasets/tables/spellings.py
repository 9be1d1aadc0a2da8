"""Ids that are written in two ways: whole numbers as floats, which are read, and others, which are refused.

pandas writes a column of whole numbers in which a value is missing as floats, and so does ``numpy.savetxt``. Two files
may also differ by zeros at the front, by case, by invisible characters, or by the form of Unicode. A node would then
be two nodes.
"""

from __future__ import annotations

import re

import pyarrow as pa
import pyarrow.compute as pc

from grandplus.datasets.tables.table import Table
from grandplus.runtime.errors import GrandPlusError

_FLOAT = r"^-?[0-9]+\.0*$|^-?[0-9]\.[0-9]+[eE]\+[0-9]{2,3}$"  # 1e3 may be a name
_INVISIBLE = r"[\x{00AD}\x{200B}-\x{200F}\x{202A}-\x{202E}\x{2060}\x{FEFF}]"
_SPACES = r"[\s\x{00A0}\x{2000}-\x{200A}\x{202F}\x{3000}]+"
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


def whole_text(text: str) -> str:
    """A whole number that is written as a float, as a whole number; else what was given.

    Examples
    --------
    >>> [whole_text(text) for text in ("7.0", "1.000e+01", "1.5", "x")]
    ['7', '10', '1.5', 'x']
    """
    whole = re.search(_FLOAT, text) and float(text).is_integer() and abs(float(text)) <= _EXACT
    return str(int(float(text))) if whole else text


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
