"""The closed loops among the reference problems, as mechanisms."""

import json
from pathlib import Path

from rigs import linkages, random_loops

from bellcrank import gallery

DATA = Path(__file__).parents[1] / "reference" / "data"


def _slider_crank():
    problem = json.loads((DATA / "A00_slider_crank_singular.json").read_text())
    first, p = problem["rows"][0], problem["params"]
    return gallery.slider_crank(
        p["crank"]["L"],
        p["rod"]["L"],
        crank_mass=p["crank"]["m"],
        rod_mass=p["rod"]["m"],
        slider_mass=p["slider"]["m"],
        angle=first["theta"],
        rate=first["omega"],
    )


LONGEST = {"A03 Andrews' squeezer": 0.2}  # s: its motor drives it faster and faster
REFERENCES = {
    "A00 slider-crank": _slider_crank,
    "A02 N-four-bar, N = 1": lambda: gallery.n_four_bar(1),
    "A02 N-four-bar, N = 5": lambda: gallery.n_four_bar(5),
    "A02 N-four-bar, N = 40": lambda: gallery.n_four_bar(40),
    "A03 Andrews' squeezer": gallery.andrews_squeezer,
    "A04 Bricard": gallery.bricard_linkage,
    "A05 flyball governor": gallery.flyball_governor,
    "spring slider-crank": gallery.spring_slider_crank,
    "flat parallelogram": lambda: linkages.parallelogram(speed=8.0),
    **{case["name"]: lambda case=case: random_loops.mechanism_of(case) for case in random_loops.CASES},
}
