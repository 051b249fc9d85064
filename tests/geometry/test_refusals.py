"""What is no shape is refused, with all that is wrong."""

import numpy as np
import pytest

from bellcrank import _core

Shape = _core.CollisionShape
CORNERS = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]])
TETRAHEDRON = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]


def test_a_whole_solid_is_taken_whole():
    Shape.mesh(CORNERS, TETRAHEDRON, solid=True)
    # Vertices of its own for each triangle, as in STL files.
    separate = CORNERS[np.array(TETRAHEDRON).ravel()]
    Shape.mesh(separate, np.arange(12).reshape(4, 3).tolist(), solid=True)


def test_an_open_surface_is_no_solid():
    Shape.mesh(CORNERS, TETRAHEDRON[:3])
    with pytest.raises(ValueError, match="mesh: it is open") as refused:
        Shape.mesh(CORNERS, TETRAHEDRON[:3], solid=True)
    for triangle, edge in enumerate(("1 and 2", "1 and 3", "2 and 3")):
        assert f"it is open at the edge between vertices {edge} of triangle {triangle};" in str(refused.value)


def test_triangles_that_face_opposite_ways_are_named():
    triangles = [*TETRAHEDRON[:3], TETRAHEDRON[3][::-1]]
    message = "triangles 0 and 3 face opposite ways at the edge between vertices 1 and 2"
    for solid in (False, True):
        with pytest.raises(ValueError, match=message):
            Shape.mesh(CORNERS, triangles, solid=solid)


def test_a_surface_that_faces_inwards_is_refused():
    with pytest.raises(ValueError, match="all triangles face inwards"):
        Shape.mesh(CORNERS, [t[::-1] for t in TETRAHEDRON])


def test_triangles_without_area_are_no_part_of_a_solid():
    vertices = np.vstack([CORNERS, [[0.5, 0.0, 0.0]]])
    triangles = [*TETRAHEDRON, [0, 1, 4], [2, 2, 3]]
    with pytest.raises(ValueError, match=r"triangle 4 has no area; triangle 5 has no area|5 has.*4 has"):
        Shape.mesh(vertices, triangles, solid=True)


def test_more_than_two_triangles_at_an_edge_are_no_solid():
    vertices = np.vstack([CORNERS, [[1.0, 1, 1]]])
    with pytest.raises(ValueError, match="3 triangles meet at the edge between vertices 0 and 1"):
        Shape.mesh(vertices, [*TETRAHEDRON, [0, 1, 4]], solid=True)


def test_a_sheet_with_two_sides_has_no_thickness():
    sheet = [[0, 1, 2], [2, 1, 0]]
    with pytest.raises(ValueError, match="no thickness: it encloses no volume"):
        Shape.mesh(CORNERS, sheet, solid=True)


@pytest.mark.parametrize("solid", [False, True])
@pytest.mark.parametrize("again", [[0, 3, 2], [3, 2, 0], [2, 3, 0]])
def test_a_triangle_that_is_there_twice_is_named(again, solid):
    with pytest.raises(ValueError, match="triangles 2 and 4 have the same corners: remove one of them"):
        Shape.mesh(CORNERS, [*TETRAHEDRON, again], solid=solid)


def test_absurd_sizes_are_refused():
    for scale in (1e12, 1e-20):
        with pytest.raises(ValueError, match=r"mesh: points reach over .* allowed"):
            Shape.mesh(scale * CORNERS, TETRAHEDRON)
        with pytest.raises(ValueError, match=r"hull: points reach over .* allowed"):
            Shape.hull(scale * CORNERS, TETRAHEDRON)
        with pytest.raises(ValueError, match=r"capsule: .*from 1e-12 to 1e\+09 m.*radius = .*half_length = "):
            Shape.capsule(scale, scale)
    with pytest.raises(ValueError, match="height field: it reaches 1e\\+15 m from the origin"):
        Shape.height_field(np.full((3, 3), 1e15), (0, 0), (1, 1))


@pytest.mark.parametrize("radius", [0.0, -1.0, np.nan, np.inf])
def test_a_radius_is_positive(radius):
    with pytest.raises(ValueError, match=r"sphere: sizes must be positive and finite.*radius ="):
        Shape.sphere(radius)


def test_all_faults_of_a_height_field_are_named():
    heights = np.zeros((3, 4))
    heights[1, 2], heights[2, 0] = np.nan, np.inf
    message = (
        "steps must be positive and finite, got 0 and -1; .*row 1, column 2 .* row 2, column 0 is not finite"
    )
    with pytest.raises(ValueError, match=message):
        Shape.height_field(heights, (0, 0), (0.0, -1.0))
    with pytest.raises(ValueError, match="at least two rows and columns"):
        Shape.height_field(np.zeros((1, 5)), (0, 0), (1, 1))
    with pytest.raises(ValueError, match="at least two rows and columns"):
        Shape.height_field(np.zeros((5, 1)), (0, 0), (1, 1))
