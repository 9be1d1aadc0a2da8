"""What numba kernels share: the decorator that compiles them, random numbers, prefetching, the largest entries."""
