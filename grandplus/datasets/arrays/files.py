"""What the readers of array files share: which file is which, and an array of numpy's own kind."""

from __future__ import annotations

import tokenize
from collections.abc import Collection
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grandplus.runtime.errors import GrandPlusError

# What numpy can raise when it reads a damaged array, whose header is a Python expression.
NPY_DAMAGE = (EOFError, OSError, SyntaxError, TypeError, ValueError, tokenize.TokenError)


def pick(folder: Path, files: list[str], suffix: str) -> Path:
    """The one file whose name ends so.

    Parameters
    ----------
    folder : Path
    files : list of str
        Names of files in the folder.
    suffix : str
        The end of the name.

    Returns
    -------
    Path

    Raises
    ------
    GrandPlusError
        There is none, or several.
    """
    matching = [name for name in files if name.endswith(suffix)]
    if len(matching) != 1:
        raise GrandPlusError(f"holds {', '.join(files)}", where=folder, expected=f"one file *{suffix}")
    return folder / matching[0]


def by_role(folder: Path, files: list[str], roles: Collection[str], *, packed: str = "") -> dict[str, Path]:
    """The files whose names, without folders, are some known ones.

    Parameters
    ----------
    folder : Path
    files : list of str
        Names of files in the folder.
    roles : collection of str
        The known names.
    packed : str
        What a name may end with besides, like ".gz".

    Returns
    -------
    dict of Path
        By the known name.

    Raises
    ------
    GrandPlusError
        Two files have the same known name.
    """
    held: dict[str, Path] = {}
    for name in files:
        role = PurePosixPath(name).name.removesuffix(packed)
        if role in held:
            found = f"is there twice: {held[role].relative_to(folder)} and {name}"
            raise GrandPlusError(
                found, where=role, expected="the files of one graph, and one split", fix="give these alone"
            )
        if role in roles:
            held[role] = folder / name
    return held


def has_one_of_each(files: list[Path], suffixes: tuple[str, ...]) -> bool:
    """Whether there is one file for each end of a name, and no other file.

    Examples
    --------
    >>> has_one_of_each([Path("a_adj.npz"), Path("a_feat.npy")], ("_adj.npz", "_feat.npy"))
    True
    """
    ends = [suffix for file in files for suffix in suffixes if file.name.endswith(suffix)]
    return len(files) == len(ends) == len(set(ends)) == len(suffixes)


def read_npy(file: Path) -> NDArray[Any]:
    """Memory-map an array of a ``.npy`` file, which must be as large as it declares.

    Parameters
    ----------
    file : Path

    Returns
    -------
    ndarray

    Raises
    ------
    GrandPlusError
        The file is missing or damaged, or holds Python objects.
    """
    try:
        return np.asarray(np.load(file, mmap_mode="r", allow_pickle=False))
    except NPY_DAMAGE as error:
        raise GrandPlusError(f"is no readable array: {error}", where=file) from None
