"""Each message on bodies and markers: it names the element, the rule, the offending value, and what to do."""

import math
import re
import sys

import numpy as np
import pytest
from rigs.faulty import NAN, body, check_message, marker

import bellcrank as bc

# What is done, and texts that the message must hold, in this order.
MESSAGES = {
    # numbers
    "wrong type": (body(mass="heavy"), "body 'crank'", "mass must be a number", "'heavy'", "give it in kg"),
    "a truth value": (body(mass=True), "mass must be a number", "True"),
    "negative mass": (body(mass=-2.0), "body 'crank'", "mass must be greater than zero", "-2.0", "kg"),
    "zero mass": (body(mass=0), "mass must be greater than zero", "0.0"),
    "NaN mass": (body(mass=NAN), "mass must be finite", "nan"),
    "infinite mass": (body(mass=math.inf), "mass must be finite", "inf"),
    "NaN position": (body(position=(0, NAN, 0)), "position must be finite", "nan", "computed"),
    "NaN velocity": (body(velocity=(NAN, 0, 0)), "velocity must be finite"),
    "NaN angular velocity": (body(angular_velocity=(NAN, 0, 0)), "angular_velocity must be finite"),
    "NaN com": (body(com=(NAN, 0, 0)), "com must be finite"),
    "NaN rotation": (body(rotation=(1, 0, NAN, 0)), "rotation must be finite"),
    "NaN gravity": (lambda: bc.Mechanism(gravity=(0, 0, NAN)), "mechanism", "gravity must be finite"),
    "wrong shape": (body(position=(1, 2)), "position must hold 3 numbers", "(1, 2)"),
    "ragged": (body(position=[[1], [2, 3]]), "position must hold 3 numbers"),
    "text for numbers": (body(position="origin"), "position must hold 3 numbers", "'origin'"),
    "gravity as one number": (lambda: bc.Mechanism(gravity=-9.81), "gravity must hold 3 numbers", "-9.81"),
    # inertia
    "triangle": (body(inertia=(1, 1, 3)), "triangle inequality", "1, 1, 3", "1 + 1 < 3", "centre of mass"),
    "triangle of a full matrix": (
        body(inertia=[[2, 0, 0], [0, 2, 1.8], [0, 1.8, 2]]),
        "triangle inequality",
        "0.2, 2, 3.8",
    ),
    "negative inertia": (body(inertia=(1, -1, 1)), "inertia must be positive definite", "-1"),
    "no inertia about an axis": (
        body(inertia=(1e-3, 0, 1e-3)),
        "inertia must be positive definite",
        "small moment about every axis",
    ),
    "NaN inertia": (body(inertia=(1, NAN, 1)), "inertia must be finite"),
    "unsymmetric": (
        body(inertia=[[1, 0.1, 0], [0.2, 1, 0], [0, 0, 1]]),
        "inertia must be symmetric",
        "Ixy = 0.1 differs from Iyx = 0.2",
    ),
    "inertia of six": (body(inertia=(1, 1, 1, 0, 0, 0)), "inertia must hold 3 numbers"),
    "inertia missing": (body(inertia=None), "inertia is missing", "density"),
    "all missing": (body(mass=None, inertia=None), "mass and inertia are missing", "shapes with a density"),
    "inertia alone": (body(mass=None), "an inertia needs a mass"),
    "com without inertia": (
        body(inertia=None, com=(0, 0, 1), shapes=[bc.Sphere(radius=1, density=1)]),
        "a com needs an inertia",
        "comes from the shapes",
    ),
    # axes and quaternions
    "zero axis": (marker(axis=(0, 0, 0)), "marker on 'crank'", "axis must be a direction", "zero vector"),
    "zero axis of two": (marker(z_axis=(0, 0, 1), x_axis=(0, 0, 0)), "x_axis must be a direction"),
    "NaN axis": (marker(axis=(0, 0, NAN)), "axis must be finite"),
    "non-unit quaternion": (
        body(rotation=(2, 0, 0, 0)),
        "rotation must be a unit quaternion (w, x, y, z)",
        "norm is 2",
        "(1, 0, 0, 0)",
    ),
    "three numbers for a quaternion": (marker(rotation=(0, 0, 1)), "rotation must hold 4 numbers"),
    "axes not perpendicular": (
        marker(axis=(0, 0, 1), x_axis=(0.6, 0, 0.8)),
        "x_axis and z_axis must be perpendicular",
        "a perpendicular z_axis is (-0.8, 0, 0.6)",
    ),
    "parallel axes": (marker(x_axis=(0, 0, 1), z_axis=(0, 0, 1)), "must be perpendicular"),
    "three axes": (
        marker(x_axis=(1, 0, 0), y_axis=(0, 1, 0), z_axis=(0, 0, 1)),
        "two axes determine a frame",
    ),
    "axis twice": (marker(axis=(0, 0, 1), z_axis=(0, 0, 1)), "axis and z_axis mean the same"),
    "orientation twice": (
        marker(axis=(0, 0, 1), rotation=(1, 0, 0, 0)),
        "given twice",
        "either rotation or axes",
    ),
    # shapes
    "flat box": (lambda: bc.Box(size=(1, 0, 1)), "Box", "size must be greater than zero in every direction"),
    "negative density": (
        lambda: bc.Sphere(radius=1, density=-1),
        "density must be greater than zero",
        "kg/m^3",
    ),
    "colour": (
        lambda: bc.Sphere(radius=1, color=(255, 0, 0)),
        "color must be three or four numbers from 0 to 1",
    ),
    "shape in place of a list": (body(shapes="box"), "shapes must be a list of shapes", "bc.Box"),
    "no mesh file": (
        body(mass=None, inertia=None, shapes=[bc.Mesh(file="nowhere.stl", density=1.0)]),
        "Mesh 'nowhere.stl'",
        "does not exist",
    ),
}


@pytest.mark.parametrize("name", MESSAGES)
def test_message(name):
    action, *texts = MESSAGES[name]
    check_message(action, texts)


def test_the_advice_for_axes_that_are_not_perpendicular_can_be_used():
    with pytest.raises(bc.MechanismError) as caught:
        marker(x_axis=(1, 0, 0), z_axis=(0.6, 0, 0.8))()
    (fault,) = caught.value.faults
    numbers = re.search(r"z_axis is \((.*)\)", fault.advice).group(1)
    advised = np.array([float(number) for number in numbers.split(",")])
    assert marker(x_axis=(1, 0, 0), z_axis=advised)().z_axis == pytest.approx((0, 0, 1))


def test_the_normalised_quaternion_advised_is_accepted():
    with pytest.raises(bc.MechanismError) as caught:
        body(rotation=(1.0, 2.0, -0.3, 0.1))()
    numbers = re.search(r"normalised it is \((.*)\)", str(caught.value)).group(1)
    assert body(rotation=[float(number) for number in numbers.split(",")])().rotation[1] > 0


def test_all_faults_of_an_element_at_once():
    with pytest.raises(bc.MechanismError) as caught:
        body(mass=-1.0, inertia=(1, 1, 3), position=(0, NAN, 0), rotation=(2, 0, 0, 0), shapes=["box"])()
    assert len(caught.value.faults) == 5
    assert str(caught.value).startswith("5 faults in the mechanism:\n  1. body 'crank': mass")


def test_a_mesh_that_is_not_closed(tmp_path):
    trimesh = pytest.importorskip("trimesh")
    mesh = trimesh.creation.box()
    mesh.update_faces(np.arange(len(mesh.faces)) > 0)
    mesh.export(tmp_path / "open.stl")
    with pytest.raises(bc.MechanismError, match=r"open\.stl.*must be closed \(watertight\)"):
        bc.Mesh(file=tmp_path / "open.stl").volume_properties()


def test_a_mesh_that_cannot_be_read(tmp_path):
    pytest.importorskip("trimesh")
    (tmp_path / "text.stl").write_text("no triangles here")
    with pytest.raises(bc.MechanismError, match="cannot be read as a mesh"):
        bc.Mesh(file=tmp_path / "text.stl").volume_properties()


def test_a_mesh_whose_triangles_name_no_vertex(tmp_path):
    trimesh = pytest.importorskip("trimesh")
    content = bytearray(trimesh.creation.box().export(file_type="glb"))
    first = content.index(b"BIN\0") + 4
    content[first : first + 4] = (256).to_bytes(4, "little")  # the indices stand first
    (tmp_path / "a.glb").write_bytes(content)
    with pytest.raises(bc.MechanismError, match="a triangle names a vertex beyond its 8"):
        bc.Mesh(file=tmp_path / "a.glb").surface()


def test_a_mesh_without_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "trimesh", None)
    with pytest.raises(bc.MechanismError, match=r"package trimesh; pip install 'bellcrank\[mesh\]'"):
        bc.Mesh(file="part.stl", density=1.0).mass_properties()
    assert bc.Mechanism().add_body("b", 1.0, (1, 1, 1), shapes=bc.Mesh(file="part.stl")).mass == 1.0
