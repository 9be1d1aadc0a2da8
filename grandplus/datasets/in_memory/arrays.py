"""Arrays, sparse matrices and tensors, told apart by what they have; no library is imported for it."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from grandplus.runtime.errors import ArgumentError


def as_matrix(value: Any, name: str) -> Any:
    """An array or a scipy sparse matrix of something that is one, or a list or tensor; without a copy where possible.

    Parameters
    ----------
    value : array_like, tensor or scipy sparse matrix
        A tensor may be sparse and on any device.
    name : str
        What to call it in an error.

    Returns
    -------
    ndarray or scipy sparse matrix

    Raises
    ------
    ArgumentError
        It is something else, or a value of it is masked.

    Examples
    --------
    >>> as_matrix([1, 2], "nodes").tolist()
    [1, 2]
    """
    if sp.issparse(value):
        return value
    if masked := int(np.ma.getmaskarray(value).sum()) if isinstance(value, np.ma.MaskedArray) else 0:
        raise ArgumentError(f"{name} has {masked} masked values", expected="none", fix="fill them in, by filled()")
    try:
        if hasattr(value, "layout"):  # a tensor of PyTorch
            value = value.detach().cpu()
            if str(value.layout) != "torch.strided":
                entries = value.to_sparse_coo().coalesce()
                return sp.coo_array((entries.values().numpy(), entries.indices().numpy()), shape=tuple(value.shape))
        array = np.asarray(value)
        return array.astype(np.float32) if array.dtype == np.float16 else array  # which scipy does not know
    except (TypeError, ValueError, RuntimeError) as error:
        raise ArgumentError(f"{name} is no array: {error}") from None
