"""The names of MJCF that change no motion: of pictures, of solvers, and of soft constraints.

Constraints are exact, so that nothing is softened; what contacts lack is listed where they are added.
"""

from __future__ import annotations

from typing import Final

from bellcrank.io.robots.consumption import Quiet

_SOFT: Final = (
    *("solref", "solimp", "solreflimit", "solimplimit", "solreffriction", "solimpfriction", "margin"),
    *("limitsolref", "limitsolimp", "frictionsolref", "frictionsolimp"),
    *("solreffix", "solimpfix", "solreflimitfix"),
)
_CONTACT: Final = ("contype", "conaffinity", "condim", "priority", "friction", "solmix", "gap")
_SOLVER: Final = (
    *("timestep", "apirate", "impratio", "magnetic", "o_margin", "o_solref", "o_solimp", "o_friction"),
    *("integrator", "cone", "jacobian", "solver", "iterations", "tolerance", "ls_iterations", "ls_tolerance"),
    *("noslip_iterations", "noslip_tolerance", "ccd_iterations", "ccd_tolerance", "mpr_iterations"),
    *("mpr_tolerance", "sdf_iterations", "sdf_initpoints", "collision", "sleep_tolerance", "diagapprox"),
)
_SWITCHES: Final = (
    *("contact", "filterparent", "autoreset", "multiccd", "nativeccd", "midphase", "eulerdamp", "refsafe"),
    *(
        "sensor",
        "warmstart",
        "clampctrl",
        "island",
        "energy",
        "fwdinv",
        "invdiscrete",
        "override",
        "sensornoise",
    ),
    *("sleep", "diagexact"),
)
_ACTUATORS: Final = ("general", "motor", "position", "velocity", "intvelocity", "damper")

QUIET: Final = Quiet(
    tags=(
        *("visual", "statistic", "default", "custom", "size", "include"),
        *("asset/texture", "asset/material", "asset/skin", "asset/hfield"),
        "option/contact",
    ),
    attributes=("class", "childclass", "rgba", "material", "group", "user", *_SOFT),
    of={
        "mujoco": ("model",),
        "geom": (*_CONTACT, "hfield", "fitscale", "fluidshape", "fluidcoef"),
        "site": ("size", "type"),
        "body": ("sleep",),
        "joint": ("actuatorgravcomp", "actuatorfrclimited"),
        "freejoint": ("align",),
        "key": ("time",),
        "compiler": (
            *("discardvisual", "usethread", "fusestatic", "convexhull", "saveinertial", "alignfree"),
            *("exactmeshinertia", "texturedir"),
        ),
        "option": (*_SOLVER, "actuatorgroupdisable"),
        "flag": _SWITCHES,
        "mesh": ("normal", "texcoord", "smoothnormal", "maxhullvert", "content_type", "octree_maxdepth"),
        "spatial": ("width", "actuatorfrclimited"),
        "fixed": ("width", "actuatorfrclimited"),
        **dict.fromkeys(_ACTUATORS, ("actlimited", "actearly", "lengthrange", "nsample", "interp")),
    },
    moving=(
        *(
            "compiler",
            "option",
            "flag",
            "worldbody",
            "body",
            "frame",
            "inertial",
            "joint",
            "freejoint",
            "geom",
        ),
        *("mesh", "equality", "connect", "weld", "tendon", "spatial", "fixed", "actuator"),
        *_ACTUATORS,
    ),
)
