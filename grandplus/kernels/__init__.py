"""What numba kernels share: the compile cache, random numbers, prefetching."""
