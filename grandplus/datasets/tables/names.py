"""What columns are usually called: ends of edges, ids, classes, weights, times, and pandas' index."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import permutations

# Words for the two ends of an edge; what else is in both names is the same: source_id and target_id.
_END_WORDS = (
    ("source", "target"), ("src", "dst"), ("src", "dest"), ("src", "tgt"), ("from", "to"), ("citing", "cited"),
    ("head", "tail"), ("sender", "receiver"), ("sender", "recipient"), ("follower", "followee"),
    ("origin", "destination"),
    ("parent", "child"), ("subject", "object"), ("row", "col"), ("row", "column"), ("u", "v"), ("i", "j"),
    ("start", "end"), ("ego", "alter"), ("user", "friend"), ("source", "destination"), ("source", "dest"),
)  # fmt: skip
_NUMBERED = (("1", "2"), ("0", "1"), ("a", "b"), ("i", "j"), ("x", "y"))  # after one of these words: id_1 and id_2
_THINGS = {"id", "node", "vertex", "user", "author", "person", "page", "paper", "item", "entity", "member", "protein"}
_THINGS |= {"gene", "name", "end", "n", "v"}
_KINDS = _THINGS - {"id", "node", "vertex", "entity", "member", "name", "end", "n", "v"}
_KINDS |= {"movie", "product", "customer", "book", "drug", "disease", "group"}
IDS = ("new_id", "node_id", "nodeid", "node", "id", "name")
LABELS = ("label", "labels", "class", "y", "category", "community", "mature", "page_type", "ml_target", "target")
WEIGHTS = {
    "weight", "weights", "w", "value", "values", "val", "count", "counts", "strength", "rating", "score", "frequency",
    "similarity", "distance", "probability", "sign", "cost", "capacity",
}  # fmt: skip
_TIMES = {
    "timestamp",
    "timestamps",
    "time",
    "date",
    "datetime",
    "start",
    "end",
    "ts",
    "year",
    "month",
    "day",
    "duration",
}
_NO_ENDS = {"type", "kind", "relation", "label", "edge", "eid", "directed", "category"}
_COUNTERS = {"index", "row", "idx", "row_number", "rownum", "rowid", "level_0"}
_INDEX = re.compile(r"|unnamed: \d+(\.\d+|_level_\d+)?|__index_level_\d+__|__null_dask_index__")
# Words of which one tells that a line is a header. Single letters don't.
HEADS = {word for pair in _END_WORDS for word in pair if len(word) > 1}
HEADS |= {*IDS, *LABELS, *WEIGHTS, "feature", "timestamp", "time", "date", "id_1", "id_2", "node_1", "node_2"} - {
    "w",
    "y",
}


def ends_by_name(names: Sequence[str]) -> list[tuple[int, int]]:
    """The pairs of columns that are called as the two ends of an edge are.

    Parameters
    ----------
    names : sequence of str

    Returns
    -------
    list of pairs of int
        (start, end) counts only if there is no other pair, as it is the name of times, too.

    Examples
    --------
    >>> ends_by_name(["weight", "src_id", "dst_id"]), ends_by_name(["start", "end", "u", "v"])
    ([(1, 2)], [(2, 3)])
    >>> ends_by_name(["FromNodeId", "ToNodeId"]), ends_by_name(["id_1", "id_2"]), ends_by_name(["a", "b"])
    ([(0, 1)], [(0, 1)], [])
    """
    words = [_words(name) for name in names]
    pairs = {(i, j): _is_pair(words[i], words[j]) for i, j in permutations(range(min(len(names), 50)), 2)}
    sure = [pair for pair, kind in pairs.items() if kind == "ends"]
    return sure or [pair for pair, kind in pairs.items() if kind == "times"]


def is_index(name: str) -> bool:
    """Whether a column is called as pandas calls an index that it writes beside the columns.

    Examples
    --------
    >>> [is_index(name) for name in ("", "Unnamed: 0", "__index_level_0__", "id")]
    [True, True, True, False]
    """
    return bool(_INDEX.fullmatch(name.lower()))


def holds_index(name: str, column: int, values: Sequence[str]) -> bool:
    """Whether a column is an index that a program wrote beside the others, by its name and its first values.

    Parameters
    ----------
    name : str
    column : int
        Its number; an index comes first, or counts.
    values : sequence of str

    Examples
    --------
    >>> holds_index("", 0, ["a", "b"]), holds_index("", 2, ["7", "5"]), holds_index("row", 2, ["1", "2"])
    (True, False, True)
    """
    filled = any(values)
    if name.lower() in _COUNTERS:
        whole = len(set(values)) == len(values) > 1 and all(map(str.isdecimal, values))
        return counts(values) or (name.lower() == "index" and whole)  # of a table that was sorted or filtered
    return is_index(name) and (column == 0 or not filled or counts(values) or name.startswith("__"))


def counts(values: Sequence[str]) -> bool:
    """Whether the first values of a column count its lines, from 0 or from 1.

    Examples
    --------
    >>> counts(["0", "1"]), counts(["1.0", "2.0", "3.0"]), counts(["2", "3"]), counts(["1"]), counts(["a", "b"])
    (True, True, False, False, False)
    """
    try:
        numbers = [float(value) for value in values]
    except ValueError:
        return False
    return len(numbers) > 1 and any(numbers == [i + start for i in range(len(numbers))] for start in (0, 1))


def is_no_end(name: str) -> bool:
    """Whether a column of an edge table is called as weights, times or kinds of edges are.

    Examples
    --------
    >>> [is_no_end(name) for name in ("weight", "edge_weight", "start", "creationDate", "a")]
    [True, True, True, True, False]
    """
    words = _words(name)
    return any(word in WEIGHTS | _TIMES | _NO_ENDS for word in words)


def is_weight(name: str) -> bool:
    """Whether a column of an edge table is called as weights are.

    Examples
    --------
    >>> [is_weight(name) for name in ("weight", "edge_weight", "callCount", "date")]
    [True, True, True, False]
    """
    return any(word in WEIGHTS for word in _words(name))


def is_id(name: str) -> bool:
    """Whether a column of a node table is called as ids are.

    Examples
    --------
    >>> [is_id(name) for name in ("id", "paperId", "node", "height")]
    [True, True, True, False]
    """
    return name.lower() in IDS or _words(name)[-1:] in (["id"], ["ids"])


def thing_of(name: str) -> str | None:
    """What a column has ids of, if its name says it.

    Examples
    --------
    >>> [thing_of(name) for name in ("user_id", "movieId", "item", "id", "source")]
    ['user', 'movie', 'item', None, None]
    """
    *words, last = _words(name) or [""]
    if not words and last in _KINDS:
        return last
    return "_".join(words) if words and last in ("id", "ids") else None


def _words(name: str) -> list[str]:
    parts = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name).lower()
    return re.findall(r"[^\W\d_]+|\d+", parts)


def _is_pair(first: list[str], second: list[str]) -> str | None:
    """ "ends", "times" if they may be times too, or None."""
    one, other = "".join(first), "".join(second)
    for start, end in _END_WORDS:
        rest = _rest(one, start)
        if rest is None or rest != _rest(other, end) or (len(start) == 1 and rest):
            continue
        if any(word in _TIMES - {"start", "end"} for word in {*first, *second}) or rest in WEIGHTS:
            return None
        return "times" if (start, end) == ("start", "end") else "ends"
    same = len(first) == len(second) > 1 and first[:-1] == second[:-1]
    return "ends" if same and (first[-1], second[-1]) in _NUMBERED and _THINGS & set(first) else None


def _rest(name: str, word: str) -> str | None:
    """What else is in a name that begins or ends with a word."""
    if name.startswith(word):
        return name[len(word) :]
    return name[: -len(word)] if name.endswith(word) else None
