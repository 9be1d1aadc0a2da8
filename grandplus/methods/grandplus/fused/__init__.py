"""Each step of the training in a few passes of numba kernels, on the CPU, in memory that is kept from step to step.

``backend.Fused`` does what `grandplus.methods.grandplus.method.Plain` does, without autograd. For the same
masks it gives the same (tests/methods/grandplus/test_oracle.py).
"""
