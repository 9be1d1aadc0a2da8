"""The stages of dvc.yaml, each started as ``python -m stages.<name>``.

What takes long to import is imported inside of ``work``: a mistake in the settings is told first.
"""

from grandplus.runtime.limits import end_without_memory

end_without_memory()
