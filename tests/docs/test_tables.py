"""The registries as Markdown."""

from docs_tables import TABLES, joint_table, markdown

from bellcrank.mechanism import CONSTRAINT_KINDS, COORDINATE_KINDS, FORCE_KINDS, JOINT_KINDS


def rows(table):
    lines = table.splitlines()
    assert set(lines[1]) == {"|", "-", " "}
    assert len({line.count("|") for line in lines}) == 1
    return {
        line.split("|")[1].strip(): [cell.strip() for cell in line.split("|")[1:-1]] for line in lines[2:]
    }


def test_every_kind_has_a_row_with_a_meaning():
    for table, kinds in (
        (joint_table(), JOINT_KINDS),
        (TABLES["constraints"](), CONSTRAINT_KINDS),
        (TABLES["forces"](), FORCE_KINDS),
        (TABLES["coordinates"](), COORDINATE_KINDS),
    ):
        found = rows(table)
        assert set(found) == set(kinds)
        assert all(len(cells[-1]) > 5 for cells in found.values())
    for kind in JOINT_KINDS.values():
        assert kind.meaning.endswith(".")
        assert kind.__doc__


def test_a_joint_row():
    found = rows(joint_table())
    assert found["Revolute"] == ["Revolute", "", "x, y, z, e1, e2", "theta_z", "Turns about z."]
    assert found["Screw"][1:3] == ["pitch", "x, y, e1, e2, z = pitch/(2 pi) theta_z"]
    assert found["LinearMotor"][2] == "x, y, e1, e2, e3, z = f(t)"
    assert next(iter(found)) == "Free"


def test_bars_are_escaped():
    assert markdown(("a",), [("x|y",)]) == "| a |\n| --- |\n| x\\|y |\n"
