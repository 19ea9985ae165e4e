"""Entry point of ``will-it-fit``, and of ``python -m will_it_fit``."""

import sys

from calc.__main__ import main

if __name__ == "__main__":
    sys.exit(main())
