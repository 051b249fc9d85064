"""Makes the rigs that tests of several folders share importable."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
