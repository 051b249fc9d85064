"""Native code that tests compile is cached in a folder of the test run, not in the user's."""

import os
import tempfile
from pathlib import Path

os.environ.setdefault("BELLCRANK_CACHE", str(Path(tempfile.gettempdir()) / "bellcrank-tests"))
