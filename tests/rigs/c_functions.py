"""C files of exported equations, compiled by the system's compiler and called."""

import ctypes
import re
import shutil
import subprocess

import numpy as np
import pytest

import bellcrank as bc

WARNINGS = ("-Wall", "-Wextra", "-pedantic", "-Werror")
SHAPES = {
    "mass_matrix": ("SPEEDS", "SPEEDS"),
    "bias": ("SPEEDS",),
    "forces": ("SPEEDS",),
    "forward_dynamics": ("SPEEDS",),
    "inverse_dynamics": ("SPEEDS",),
    "coordinate_rates": ("COORDINATES",),
    "constraint_error": ("ROWS",),
    "constraint_jacobian": ("ROWS", "SPEEDS"),
    "constraint_drift": ("ROWS",),
    "constraint_bias": ("ROWS",),
    "pose": (12,),
    "velocity": (6,),
    "jacobian": (6, "SPEEDS"),
}


def compiler(name="cc"):
    """The system's compiler, `cc` or `c++`; skips the test where there is none."""
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"a {'C++' if name == 'c++' else 'C'} compiler is not installed")
    return found


class Library:
    """A mechanism's exported functions, by what follows their common name."""

    def __init__(self, mechanism, folder, frames=(), flags=("-std=c99", "-O0")):
        self.system = bc.prepare(mechanism, "symbolic")
        self.written = self.system.export_c(folder / "mech.c", frames)
        self.header = self.written.header.read_text()
        library = folder / "mech.so"
        command = [
            compiler(),
            *flags,
            *WARNINGS,
            "-shared",
            "-fPIC",
            "-o",
            library,
            self.written.source,
            "-lm",
        ]
        subprocess.run(command, check=True)
        self.library = ctypes.CDLL(str(library))
        self.sizes = {k: int(v) for k, v in re.findall(r"#define MECH_([A-Z]+) (\d+)", self.header)}

    def __call__(self, name, t=0.0, **arrays):
        """A function at time t and arrays by their names in C."""
        signature = re.search(rf"void mech_{name}\(double t, (.*)\);", self.header).group(1)
        names = re.findall(r"const double \*(\w+)", signature)
        form = max((form for form in SHAPES if name.endswith(form)), key=len)
        shape = [self.sizes[size] if isinstance(size, str) else size for size in SHAPES[form]]
        out = np.full(shape, np.nan)
        kept = [np.ascontiguousarray(arrays[one], dtype=float) for one in names]
        pointers = [ctypes.c_void_p(one.ctypes.data) for one in (*kept, out)]
        getattr(self.library, f"mech_{name}")(ctypes.c_double(t), *pointers)
        return out
