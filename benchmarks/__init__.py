import grandplus  # noqa: F401  # before numpy, so that dense products have the kernels that they have in the stages
