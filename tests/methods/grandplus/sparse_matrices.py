"""Sparse matrices of tests, from dense ones."""

import numpy as np

from grandplus.methods.grandplus.fused.csr import CSR


def csr_of(dense):
    rows, columns = np.nonzero(dense)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(dense)))]).astype(np.int32)
    return CSR(indptr, columns.astype(np.int32), dense[rows, columns], dense.shape[1])
