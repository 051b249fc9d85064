"""Makes rigs that several folders share importable; keeps native code in a cache; lets Ctrl-C through."""

import os
import signal
import sys
import tempfile
from pathlib import Path

os.environ.setdefault("BELLCRANK_CACHE", str(Path(tempfile.gettempdir()) / "bellcrank-tests"))
sys.path.insert(0, str(Path(__file__).parent))

# A shell starts background jobs with Ctrl-C ignored, which the programs that tests start would inherit.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
