"""The one error that users of GRAND+ meet."""


class GrandPlusError(Exception):
    """A problem that the user can act on; shown as one line, never as a traceback.

    Parameters
    ----------
    found : what was found, with the offending value in it.
    where : file, row or key it was found at.
    expected : what would have been right.
    fix : what to do now.

    >>> print(GrandPlusError("top_k is 0", where="params.yaml", expected="at least 1"))
    params.yaml: top_k is 0; expected at least 1
    """

    def __init__(self, found: str, *, where: object = "", expected: str = "", fix: str = "") -> None:
        head = f"{where}: {found}" if str(where) else found
        parts = [head, f"expected {expected}" if expected else "", fix]
        super().__init__("; ".join(" ".join(part.split()) for part in parts if part))
