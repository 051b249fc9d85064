"""Random expressions and random programs over all operations, and numbers that are hard on them."""

import importlib
from importlib.util import find_spec

import numpy as np

import bellcrank.expression as bx
from bellcrank import _core, _cpu

UNARY = [bx.sin, bx.cos, bx.tanh, bx.atan, lambda a: bx.sqrt(a * a + 1.0), lambda a: bx.exp(bx.sin(a))]
BINARY = [
    bx.maximum,
    bx.minimum,
    lambda a, b: bx.piecewise(a < b, a * b, bx.all_of(a > 0.5, b < 1.0), a - b, b),
    lambda a, b: a / (b * b + 1.5),
    lambda a, b: bx.atan2(a, b * b + 0.5),
    lambda a, b: 1.0 / (a * a + b * b + 1.0),
]


def random_expressions(seed, count=90, outputs=9):
    """Symbols and expressions of them; products and sums of what was built before, seldom twice the same."""
    rng = np.random.default_rng(seed)
    symbols = [bx.symbol(f"x{k}", low=0.2, high=1.5) for k in range(7)]
    pool = [*symbols, *(bx.Expression(float(v)) for v in rng.normal(size=4))]

    def pick():
        chosen = pool[max(0, len(pool) - 1 - int(rng.integers(30)))]
        return -chosen if rng.uniform() < 0.4 else chosen

    for _ in range(count):
        sort = rng.uniform()
        if sort < 0.4:
            made = pick() + pick()
        elif sort < 0.7:
            made = pick() * pick()
        elif sort < 0.85:
            made = UNARY[rng.integers(len(UNARY))](pick())
        else:
            made = BINARY[rng.integers(len(BINARY))](pick(), pick())
        low, high = made.range
        pool.append(made if low > -50.0 and high < 50.0 else bx.sin(made))
    return symbols, [pick() for _ in range(outputs)]


OPS = [name for name, _ in _core.program_ops()]
TABLES = [
    ("harmonic", [0.3, -0.2, 1.1, 2.0, 0.4]),
    ("piecewise", [3.0, 2.0, 1.0, -1.0, 0.5, 2.0, 0.2, 0.3, -0.4, 1.0, 2.0, 0.1]),
    ("piecewise", [2.0, 2.0, 2.0, -1.0, 0.5, 2.0, 0.2, 0.3, -0.4, 1.0]),
    ("rational", [2.0, 2.0, 0.0, -1.0, 0.5, 2.0, 0.2, 0.3, -0.4, 1.0, 1.5, 0.1, 2.0, 0.2]),
]
SPECIAL = np.array([
    0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 5e-324, -5e-324, 2.3e-308, 1.7e308, -1.7e308,
    np.pi, -np.pi / 2, 2.0**22, np.nextafter(2.0**22, np.inf), -(2.0**22), 1e22, -3e155, 1e-17, 0.5, 7.0,
])  # fmt: skip


def cores():
    """The variants of the core that run here."""
    runs = {"portable": True, "avx2": _cpu.supports_avx2()}
    return {
        variant: importlib.import_module(f"bellcrank._core_{variant}")
        for variant in runs
        if runs[variant] and find_spec(f"bellcrank._core_{variant}") is not None
    }


class Draft:
    """A program as arguments, to be made by either core."""

    def __init__(self, inputs, constants, slots, steps, outputs, tables=()):
        self.inputs, self.constants, self.slots = inputs, list(constants), slots
        self.steps = np.array(steps, dtype=np.uint32).reshape(-1, 5)
        self.outputs, self.tables = list(outputs), list(tables)

    def made_by(self, core):
        return core.Program(self.inputs, self.constants, self.slots, self.steps, self.outputs, self.tables)


def random_program(seed, length, inputs=12, names=OPS, working=40, outputs=25):
    """Slots are written again and again, also by the instruction that reads them last."""
    rng = np.random.default_rng(seed)
    constants = [*rng.normal(size=6), 1.0, -0.0, 0.0]
    base = inputs + len(constants)
    known = list(range(base))
    steps = []
    for _ in range(length):
        name = names[rng.integers(len(names))]
        a, b, c = (int(known[rng.integers(len(known))]) for _ in range(3))
        out = base + int(rng.integers(working))
        if name == "table":
            b, c = int(rng.integers(len(TABLES))), int(rng.integers(3))
        steps.append((OPS.index(name), out, a, b, c))
        if out not in known:
            known.append(out)
        if name == "sine_cosine":
            other = base + (out - base + 1 + int(rng.integers(working - 1))) % working
            steps[-1] = (*steps[-1][:4], other)
            if other not in known:
                known.append(other)
    chosen = rng.choice(known, size=outputs)
    tables = TABLES if "table" in names else []
    return Draft(inputs, constants, base + working, steps, [int(slot) for slot in chosen], tables)


def points(seed, count, inputs=12):
    """Everyday numbers, and every third point with special ones among them."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(count, inputs)) * 10.0 ** rng.uniform(-3.0, 2.0, size=(count, inputs))
    special = rng.choice(SPECIAL, size=(count, inputs))
    mixed = rng.uniform(size=(count, inputs)) < 0.4
    mixed[np.arange(count) % 3 != 0] = False
    return np.where(mixed, special, x)


def interpreted(core, draft, x):
    """Results (points, outputs), one point after the other."""
    program = core.CompiledProgram(draft.made_by(core))
    out = np.empty((len(x), len(draft.outputs)))
    for row, result in zip(x, out, strict=True):
        program.evaluate(row, result, True)
    return out


def same_bits(a, b):
    """NaN is NaN whatever its sign and payload, which hardware chooses by the order of operands."""
    both_nan = np.isnan(a) & np.isnan(b)
    return bool((both_nan | (a.view(np.int64) == b.view(np.int64))).all())
