"""The command that is printed to be run next."""

from __future__ import annotations

from pathlib import Path

from grandplus.pipeline.card import OWN_METHOD, PARAMS, USUAL_MATRIX
from grandplus.pipeline.yaml_files import read_yaml


def run_command(dataset: str, *, model: str = OWN_METHOD, matrix: str | None = None, root: Path | str = ".") -> str:
    """The ``dvc exp run`` that runs a method on a dataset, whatever params.yaml has of an earlier or a later run.

    Parameters
    ----------
    dataset : str
    model : str
        The method. It is named but for the usual command of the own one: the card may have been tuned for it, and
        another run may come before.
    matrix : str, optional
        It is named in any case, and the method with it. By default it is the usual one, which is named where
        params.yaml has another for GRAND+.
    root : path
        The top of the checkout.

    Raises
    ------
    GrandPlusError
        params.yaml can't be read.
    """
    params = Path(root) / PARAMS
    left = read_yaml(params) if params.is_file() else {}  # a catalog may lie alone
    if matrix is None and model == OWN_METHOD and left.get("matrix", USUAL_MATRIX) != USUAL_MATRIX:
        matrix = USUAL_MATRIX
    usual = matrix is None and model == OWN_METHOD == left.get("model", OWN_METHOD)
    changes = {"dataset": dataset, "model": None if usual else model, "matrix": matrix}
    return " ".join(["dvc exp run", *(f"-S {key}={value}" for key, value in changes.items() if value is not None)])
