"""``python -m grandplus`` is the command ``grandplus``."""

import sys

from grandplus.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
