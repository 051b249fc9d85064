"""Finite element models of bars, by formulas written here, for the tests of reduced solids."""

import numpy as np

STEEL = (2.1e11, 0.3, 7850.0)


def beam(count=20, length=1.0, radius=0.01, material=STEEL):
    """Stiffness, mass and nodes of a round Euler-Bernoulli beam along x, six freedoms a node."""
    young, poisson, density = material
    h, area, second = length / count, np.pi * radius**2, np.pi * radius**4 / 4
    bent = (
        np.array([[12, 6, -12, 6], [6, 4, -6, 2], [-12, -6, 12, -6], [6, 2, -6, 4]]) * young * second / h**3
    )
    moved = np.array([[156, 22, 54, -13], [22, 4, 13, -3], [54, 13, 156, -22], [-13, -3, -22, 4]])
    moved = moved * density * area * h / 420
    line, heavy = np.array([[1, -1], [-1, 1]]) / h, np.array([[2, 1], [1, 2]]) * h / 6
    K, M = np.zeros((2, 6 * count + 6, 6 * count + 6))
    for at in range(0, 6 * count, 6):
        for first, stiff, mass in (
            (0, young * area, density * area),
            (3, young * second / (1 + poisson), 2 * density * second),
        ):
            place = np.ix_([at + first, at + first + 6], [at + first, at + first + 6])
            K[place] += stiff * line
            M[place] += mass * heavy
        for across, turn, sign in ((1, 5, 1), (2, 4, -1)):
            scale = np.outer(*2 * [np.array([1, sign * h, 1, sign * h])])
            place = np.array([across, turn, across + 6, turn + 6]) + at
            K[np.ix_(place, place)] += bent * scale
            M[np.ix_(place, place)] += moved * scale
    return K, M, np.linspace((0, 0, 0), (length, 0, 0), count + 1)


def block(counts=(10, 2, 2), sizes=(0.4, 0.05, 0.03)):
    """Points and tetrahedra of a block, six in each brick."""
    grid = np.meshgrid(*(np.linspace(0, s, c + 1) for s, c in zip(sizes, counts, strict=True)), indexing="ij")
    points = np.stack(grid, -1).reshape(-1, 3)
    numbers = np.arange(len(points)).reshape(np.array(counts) + 1)
    paths = [(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)]
    cells = []
    for corner in np.ndindex(*counts):
        for path in paths:
            at, cell = np.array(corner), [numbers[corner]]
            for axis in path:
                at = at + np.eye(3, dtype=int)[axis]
                cell.append(numbers[tuple(at)])
            cells.append(cell)
    return points, np.array(cells)


def bricks(counts=(8, 2, 2), sizes=(0.4, 0.05, 0.03), material=STEEL):
    """Stiffness, mass and nodes of a block of bricks with eight nodes, three freedoms a node."""
    young, poisson, density = material
    nodes = np.stack(
        np.meshgrid(*(np.linspace(0, s, c + 1) for s, c in zip(sizes, counts, strict=True)), indexing="ij"),
        -1,
    ).reshape(-1, 3)
    numbers = np.arange(len(nodes)).reshape(np.array(counts) + 1)
    corners = np.array([[i, j, k] for i in (0, 1) for j in (0, 1) for k in (0, 1)])
    edges = np.array(sizes) / counts
    lam, mu = young * poisson / ((1 + poisson) * (1 - 2 * poisson)), young / (2 + 2 * poisson)
    law = np.diag([2 * mu] * 3 + [mu] * 3)
    law[:3, :3] += lam
    k, m = np.zeros((2, 24, 24))
    for xi in np.stack(np.meshgrid(*3 * [[0.5 - 12**-0.5, 0.5 + 12**-0.5]]), -1).reshape(-1, 3):
        share = np.where(corners, xi, 1 - xi)
        slope = np.stack(
            [np.where(corners[:, a], 1, -1) / edges[a] * np.delete(share, a, 1).prod(1) for a in range(3)]
        )
        strain = np.zeros((6, 24))
        for a, b, row in ((0, 0, 0), (1, 1, 1), (2, 2, 2), (0, 1, 3), (1, 2, 4), (2, 0, 5)):
            strain[row, a::3] += slope[b]
            if a != b:
                strain[row, b::3] += slope[a]
        weight = edges.prod() / 8
        k += strain.T @ law @ strain * weight
        m += np.kron(np.outer(share.prod(1), share.prod(1)), np.eye(3)) * density * weight
    K, M = np.zeros((2, nodes.size, nodes.size))
    for cell in np.ndindex(*counts):
        freedoms = (3 * numbers[tuple((np.array(cell) + corners).T)][:, None] + np.arange(3)).ravel()
        K[np.ix_(freedoms, freedoms)] += k
        M[np.ix_(freedoms, freedoms)] += m
    return K, M, nodes


def ends(nodes):
    """The nodes at the least and at the largest x."""
    return tuple(np.nonzero(nodes[:, 0] == x)[0] for x in (nodes[:, 0].min(), nodes[:, 0].max()))
