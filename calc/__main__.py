"""Entry point of ``python -m calc``."""

import sys

from calc.commands.main import main

sys.exit(main())
