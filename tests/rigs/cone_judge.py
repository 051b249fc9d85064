"""Judges of impulses, written from the laws and independent of the core."""

import numpy as np

from bellcrank import _core


def natural_residual(scene, S, q, x):
    """max |λ − P(λ − (u + μ|u_t| n) / d)| d / max |q|, max |u| of equality rows, intervals alike."""
    u = S @ x + q
    worst, row = 0.0, 0
    for block in scene.blocks:
        here = slice(row, row + block.size)
        xb, ub, d = x[here], u[here], np.diag(S)[here]
        row += block.size
        if block.bounds is not None:
            within = np.clip(xb - ub / d, *block.bounds)
            worst = max(worst, (np.abs(xb - within) * d).max())
            continue
        if block.discs is None:
            worst = max(worst, np.abs(ub).max())
            continue
        if not block.discs:
            worst = max(worst, abs(xb[0] - max(0.0, xb[0] - ub[0] / d[0])) * d[0])
            continue
        (m, mu), *others = block.discs
        dc = d[: 1 + m].max()
        y = xb[: 1 + m] - (ub[: 1 + m] + mu * np.linalg.norm(ub[1 : 1 + m]) * np.eye(1 + m)[0]) / dc
        worst = max(worst, np.abs(xb[: 1 + m] - projected(y, mu)).max() * dc)
        at = 1 + m
        for size, coefficient in others:
            part = slice(at, at + size)
            dk = d[part].max()
            z, radius = xb[part] - ub[part] / dk, coefficient * max(0.0, xb[0])
            z = z * min(1.0, radius / max(np.linalg.norm(z), 1e-300))
            worst = max(worst, np.abs(xb[part] - z).max() * dk)
            at += size
    return worst / np.abs(q).max()


def projected(y, mu):
    """The nearest point with |y_t| <= μ y_n, by the closest of the apex, the point and the boundary."""
    size = np.linalg.norm(y[1:])
    if size <= mu * y[0]:
        return y
    ray = np.concatenate([[1.0], mu * y[1:] / max(size, 1e-300)])
    return max(0.0, y @ ray) / (ray @ ray) * ray


def solved(scene, dense=False, start=None, tolerance=1e-8):
    """Impulses and the report, judged: what the report says is so."""
    J = scene.jacobian()
    S, q = J @ J.T, scene.free_velocity()
    options = _core.ConeOptions(tolerance=tolerance)
    x, report = scene.problem(dense).solve(q, np.zeros(scene.count) if start is None else start, options)
    residual = natural_residual(scene, S, q, x)
    assert report.converged, (report.residual, report.worst)
    assert residual <= tolerance
    assert abs(residual - report.residual) <= 1e-9
    return x, S @ x + q, report
