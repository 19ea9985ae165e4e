"""Entry point of ``python -m calc``."""

import gc
import sys

if __name__ == "__main__":
    gc.disable()  # modules hold no circle that is worth looking for; a command turns it on
    from calc.commands.main import main

    sys.exit(main())
