"""The errors that users of GRAND+ meet: one class, and kinds of it that a caller may want to tell apart."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Self


class GrandPlusError(Exception):
    """A problem that the user can act on; shown as one line, never as a traceback.

    Parameters
    ----------
    found : str
        What was found, with the offending value in it.
    where : object
        File, row or key it was found at.
    expected : str
        What would have been right.
    fix : str
        What to do now.

    Examples
    --------
    >>> print(GrandPlusError("top_k is 0", where="params.yaml", expected="at least 1"))
    params.yaml: top_k is 0; expected at least 1
    """

    def __init__(self, found: str, *, where: object = "", expected: str = "", fix: str = "") -> None:
        self.found, self.where, self.expected, self.fix = found, where, expected, fix
        super().__init__(found)

    def __str__(self) -> str:
        head = f"{self.where}: {self.found}" if str(self.where) else self.found
        parts = [head, f"expected {self.expected}" if self.expected else "", self.fix]
        return "; ".join(" ".join(part.split()) for part in parts if part)

    def at(self, where: object) -> Self:
        """The same error; found at ``where``, if it doesn't say where yet."""
        self.where = self.where if str(self.where) else where
        return self

    def __reduce__(self) -> tuple[object, ...]:
        return _restored, (type(self), self.found, self.where, self.expected, self.fix)


class ArgumentError(GrandPlusError, ValueError):
    """A wrong argument of a function or a parameter of the estimator; a ``ValueError`` too."""


class ArtifactError(GrandPlusError):
    """A file that an earlier step has made is missing, damaged or of another run; ``where`` is its path.

    The library does not know how that step was started. Whoever does adds to ``fix`` how to make the file anew.
    """


class ShortageError(GrandPlusError):
    """Memory or disk is too small for now.

    That is no trait of the settings, so whoever keeps "these settings can't be trained" must not keep it.
    """


class MemoryShortageError(ShortageError):
    """Memory is too small for now."""


@contextmanager
def argument_errors(where: object = "") -> Iterator[None]:
    """Whatever a user's mistake is found in this block, it is one in an argument: raise it as an `ArgumentError`.

    Parameters
    ----------
    where : object
        The call, for errors that don't say where they were found.

    Raises
    ------
    ArgumentError

    Examples
    --------
    >>> with argument_errors("fit"):
    ...     raise GrandPlusError("y is empty")
    Traceback (most recent call last):
    grandplus.runtime.errors.ArgumentError: fit: y is empty
    """
    try:
        yield
    except GrandPlusError as error:
        raise ArgumentError(error.found, where=error.at(where).where, expected=error.expected, fix=error.fix) from None


@contextmanager
def path_in_errors(path: object) -> Iterator[None]:
    """An error of the file system in this block names a file: this one, where it names none.

    A write to a full disk, for instance, doesn't say which file was written.

    Parameters
    ----------
    path : path

    Examples
    --------
    >>> with path_in_errors("data/rows"):
    ...     raise OSError(28, "No space left on device")
    Traceback (most recent call last):
    OSError: [Errno 28] No space left on device: 'data/rows'
    """
    try:
        yield
    except OSError as error:
        of_files = type(error).__module__ == "builtins" and not isinstance(error, ConnectionError | TimeoutError)
        if of_files and error.filename is None:
            error.strerror = error.strerror or str(error)  # numpy says it in its own words
            error.filename = str(path)
        raise


def _restored(kind: type[GrandPlusError], found: str, where: object, expected: str, fix: str) -> GrandPlusError:
    """For pickle, as from a worker process."""
    return kind(found, where=where, expected=expected, fix=fix)
