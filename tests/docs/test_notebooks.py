"""Pages as notebooks: three run in a kernel, what their cells return is shown, and errors are short."""

import json

import pytest
from docs_site import notebooks

PAGES = {page.stem: page for page in notebooks.pages()}


def test_notebooks_have_the_code_of_their_pages():
    for page in PAGES.values():
        made = json.loads(notebooks.written(page))
        code = [cell["source"] for cell in made["cells"] if cell["cell_type"] == "code"]
        text = page.read_text(encoding="utf-8")
        assert sum(not one.startswith("%%") for one in code) == text.count("\n```python")
        assert "```text output" not in "".join(cell["source"] for cell in made["cells"])
        assert len({cell["id"] for cell in made["cells"]}) == len(made["cells"])


def outputs(cells):
    return [output for cell in cells.cells for output in cell.get("outputs", ())]


@pytest.mark.parametrize(
    ("name", "pictures"), [("01-first-mechanism", 1), ("08-troubleshooting", 0), ("25-statics", 1)]
)
def test_pages_run_as_notebooks(name, pictures, tmp_path):
    for package in ("nbclient", "ipykernel", "matplotlib"):
        pytest.importorskip(package)
    made = outputs(notebooks.executed(PAGES[name], tmp_path))
    assert sum("image/png" in output.get("data", {}) for output in made) == pictures
    for output in made:
        if output["output_type"] == "error":  # the user's line and the message, not those in between
            assert len(output["traceback"]) <= 6
            assert "site-packages" not in "".join(output["traceback"])
        elif output["output_type"] == "execute_result":
            assert "text/html" in output["data"]


def test_results_are_shown_by_cells(tmp_path):
    """Each object that a cell returns: HTML of a few lines, and pictures of results that have one."""
    pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    page = tmp_path / "page.md"
    shown = {
        'mech = bc.gallery.four_bar()\nmech.add_marker(mech.ground.marker((1, 0, 0), name="post"))': "marker",
        'mech.add_body("weight", mass=0.1 + 0.2, inertia=(1, 1, 1))': "0.3 kg",
        'mech.add_joint("pin", bc.Revolute(), "ground", "weight")': "Revolute, ground – weight",
        'mech.add_force("spring", bc.TorsionSpring(1.0), "pin")': "TorsionSpring, pin.theta_z",
        'mech.add_drive("motor", "pin", velocity=1.0)': "velocity, pin.theta_z",
        "mech": "<img",
        "bc.info(mech)": "<table",
        "bc.simulate(mech, 0.1)": "<img",
        "bc.simulate(mech, 0.1, ledger=True).energy_balance()": "balance of energy",
        "bc.statics(bc.gallery.simple_pendulum())": "<img",
        'bc.prepare(mech, "lagrange").derivatives(of="acceleration")': "<table",
    }
    cells = "\n".join(f"```python\n{code}\n```\n" for code in shown)
    page.write_text(f"```python\nimport bellcrank as bc\n```\n{cells}", encoding="utf-8")
    made = outputs(notebooks.executed(page, tmp_path))
    for (code, wanted), output in zip(shown.items(), made, strict=True):
        assert wanted in output["data"]["text/html"], code
