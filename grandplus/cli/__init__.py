"""What a person types: a verb a file, all behind the one command ``grandplus``."""

from grandplus.runtime.limits import end_without_memory

end_without_memory()
