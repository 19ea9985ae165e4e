"""Entry point of ``python -m calc``."""

import gc
import os
import sys

if __name__ == "__main__":
    gc.disable()  # modules hold no circle that is worth looking for; a command turns it on
    # pydantic would look for plugins in every package that is installed
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    from calc.commands.main import main

    sys.exit(main())
