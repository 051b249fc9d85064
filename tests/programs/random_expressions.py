"""Random expressions whose values stay between moderate bounds."""

import numpy as np

import bellcrank.expression as bx

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
