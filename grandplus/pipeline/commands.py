"""The command that is printed to be run next."""

from __future__ import annotations

from pathlib import Path

from grandplus.pipeline.card import OWN_METHOD, PARAMS
from grandplus.pipeline.yaml_files import read_yaml


def run_command(dataset: str, *, model: str = OWN_METHOD, matrix: str | None = None, root: Path | str = ".") -> str:
    """The ``dvc exp run`` that runs a method on a dataset, whatever method params.yaml has from an earlier run.

    Parameters
    ----------
    dataset : str
    model : str
        The method; it is named where params.yaml has another one.
    matrix : str, optional
        By default that of params.yaml.
    root : path
        The top of the checkout.

    Raises
    ------
    GrandPlusError
        params.yaml can't be read.
    """
    params = Path(root) / PARAMS
    usual = read_yaml(params).get("model") if params.is_file() else OWN_METHOD  # a catalog may lie alone
    changes = {"dataset": dataset, "model": None if model == usual else model, "matrix": matrix}
    return " ".join(["dvc exp run", *(f"-S {key}={value}" for key, value in changes.items() if value is not None)])
