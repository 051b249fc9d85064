"""Makes shared rigs and the benchmarks importable; keeps native code in a cache; lets Ctrl-C through."""

import os
import signal
import sys
import tempfile
from pathlib import Path

os.environ.setdefault("BELLCRANK_CACHE", str(Path(tempfile.gettempdir()) / "bellcrank-tests"))
sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent)]

# A shell starts background jobs with Ctrl-C ignored, which the programs that tests start would inherit.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
