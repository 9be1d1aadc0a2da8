"""The stages of dvc.yaml, each started as ``python -m stages.<name>``."""
