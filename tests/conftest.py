"""Makes the rigs that tests of several folders share importable; keeps native code of tests in a cache."""

import os
import sys
import tempfile
from pathlib import Path

os.environ.setdefault("BELLCRANK_CACHE", str(Path(tempfile.gettempdir()) / "bellcrank-tests"))
sys.path.insert(0, str(Path(__file__).parent))
