"""The first import of a process may be of a name that the package lacks."""

import subprocess
import sys


def test_a_misspelt_name_is_an_import_error():
    done = subprocess.run(
        [sys.executable, "-c", "from bellcrank import simulat"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "ImportError: cannot import name 'simulat'" in done.stderr


def test_a_module_can_be_imported_from_the_package():
    code = "from bellcrank import progress; print(progress.__name__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "bellcrank.progress"
