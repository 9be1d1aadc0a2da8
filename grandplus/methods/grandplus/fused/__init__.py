"""Each step of the training in a few passes of numba kernels, on the CPU.

``backend.Fused`` has the functions of `grandplus.methods.grandplus.method.Plain`, and gives the same for the same
masks (tests/methods/grandplus/test_oracle.py).
"""
