"""Films: CPU seconds a picture of whole films, of painting alone, and of VTK with the same meshes."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from time import process_time
from typing import Any, Final

import click
import numpy as np

import bellcrank as bc
from bellcrank.scene.painter import Frame, Painter
from bellcrank.scene.still import instant_of
from bellcrank.scene.view import view_of
from bellcrank.trajectory.pictures import scene_of
from benchmarks.command_line import Form, form_option, invoke, repeats_option
from benchmarks.environment import environment
from benchmarks.report import Column, Report, Row, Table, publish
from benchmarks.targets import target, targets_tables
from benchmarks.timing import Spread

WIDTH, HEIGHT = 1280, 720
FPS: Final = 30.0
LIMITS: Final = {"four-bar": 0.02, "rope bridge": 0.05}
"""Wanted: CPU seconds a picture of a whole film."""

_COLUMNS: Final = (
    Column("mechanism", "mechanism"), Column("triangles", "triangles", 6), Column("pictures", "pictures", 4),
    Column("film", "film"), Column("painting", "painting alone"), Column("vtk", "VTK, painting alone"),
    Column("kb", "kB of the film"),
)  # fmt: skip


def rope_bridge(planks: int = 60) -> bc.Mechanism:
    """Planks in a row, hinged to each other, each of which hangs from two rubber strings."""
    mech = bc.Mechanism("rope bridge")
    before = mech.ground.marker((0.0, 0.0, 0.0), axis="y")
    for k in range(planks):
        x, shape = 0.2 * k, bc.Box((0.16, 0.6, 0.03), density=100.0)
        plank = mech.add_body(f"plank {k}", 1.0, (0.01,) * 3, position=(x + 0.1, 0.0, 0.0), shapes=shape)
        mech.add_joint(f"hinge {k}", bc.Revolute(), before, plank.marker((-0.1, 0.0, 0.0), axis="y"))
        before = plank.marker((0.1, 0.0, 0.0), axis="y")
        for side in (1, -1):
            string, y = bc.RubberString(stiffness=10.0, rest_length=0.2), 0.3 * side
            top, end = mech.ground.marker((x, y, 1.0)), plank.marker((0.0, y, 0.0))
            mech.add_force(f"string {k} {side}", string, top, end)
    return mech


MECHANISMS: Final[dict[str, tuple[Callable[[], bc.Mechanism], float]]] = {
    "four-bar": (bc.gallery.four_bar, 10.0),
    "rope bridge": (rope_bridge, 1.0),
}
"""What is filmed, and how long, s."""


def film(run: bc.Trajectory, paths: list[str]) -> tuple[float, float]:
    """CPU seconds of a whole film, encoding included, and its size in kB."""
    with tempfile.TemporaryDirectory() as folder:
        path, begun = Path(folder) / "film.mp4", process_time()
        run.animate(path, fps=FPS, width=WIDTH, size=(16, 9), paths=paths)
        return process_time() - begun, path.stat().st_size / 1e3


class Filmed:
    """A run at the times of its film, in the frame that shows all of it."""

    def __init__(self, run: bc.Trajectory, count: int) -> None:
        self.scene = scene_of(run)
        self.view = view_of(self.scene)
        self.painter = Painter(self.scene, self.view)
        times = np.linspace(run.time[0], run.time[-1], count).tolist()
        self.instants = [instant_of(self.scene.mechanism, run.at(time)) for time in times]
        self.floor = self.painter.floor(self.instants)
        self.frame: Frame = self.painter.reach(self.instants).fitted(WIDTH / HEIGHT)

    @property
    def triangles(self) -> int:
        """Of all that is drawn."""
        return sum(len(what.mesh.triangles) for what in self.scene.drawn)

    def painting(self) -> float:
        """CPU seconds of painting all pictures by the core."""
        out, begun = np.empty((HEIGHT, WIDTH, 4), dtype=np.uint8), process_time()
        for instant in self.instants:
            self.painter.paint_on_white(instant, self.frame, self.floor, out)
        return process_time() - begun

    def vtk(self) -> float:
        """The same by VTK, off the screen, with the same meshes; it smooths edges by four samples."""
        window, placed = self._window()
        begun = process_time()
        for instant in self.instants:
            placed(instant)
            window.Render()
            _pixels(window)
        return process_time() - begun

    def _window(self) -> tuple[Any, Callable[[Any], None]]:
        import vtk  # type: ignore[import-not-found]
        from vtk.util import numpy_support as arrays  # type: ignore[import-not-found]

        renderer, window, transforms = vtk.vtkRenderer(), vtk.vtkRenderWindow(), []
        renderer.SetBackground(1.0, 1.0, 1.0)
        window.SetOffScreenRendering(True)
        window.SetMultiSamples(4)
        window.SetSize(WIDTH, HEIGHT)
        window.AddRenderer(renderer)
        for what in self.scene.drawn:
            points, cells, data = vtk.vtkPoints(), vtk.vtkCellArray(), vtk.vtkPolyData()
            points.SetData(arrays.numpy_to_vtk(np.asarray(what.mesh.vertices, dtype=float), deep=True))
            flat = np.insert(np.asarray(what.mesh.triangles, dtype=np.int64), 0, 3, axis=1).ravel()
            cells.SetCells(len(what.mesh.triangles), arrays.numpy_to_vtkIdTypeArray(flat, deep=True))
            data.SetPoints(points)
            data.SetPolys(cells)
            data.GetPointData().SetNormals(arrays.numpy_to_vtk(np.asarray(what.mesh.normals), deep=True))
            mapper, actor, transform = vtk.vtkPolyDataMapper(), vtk.vtkActor(), vtk.vtkTransform()
            mapper.SetInputData(data)
            actor.SetMapper(mapper)
            actor.SetUserTransform(transform)
            actor.GetProperty().SetColor(*what.color[:3])
            actor.GetProperty().SetOpacity(what.color[3])
            renderer.AddActor(actor)
            transforms.append(transform)
        self._look(renderer.GetActiveCamera())
        renderer.ResetCameraClippingRange()

        def place(instant: Any) -> None:
            at = self.scene.placed(instant.position, instant.rotation)
            for transform, p, (w, x, y, z), stretch in zip(
                transforms, at.position.tolist(), at.rotation.tolist(), at.stretch.tolist(), strict=True
            ):
                transform.Identity()
                transform.Translate(p)
                transform.RotateWXYZ(np.degrees(2.0 * np.arctan2(np.linalg.norm((x, y, z)), w)), x, y, z)
                transform.Scale(1.0, 1.0, stretch)

        return window, place

    def _look(self, camera: Any) -> None:
        """Parallel, in the frame of the painter."""
        frame, view, size = self.frame, self.view, self.scene.size
        x, y = 0.5 * (frame.left + frame.right), 0.5 * (frame.low + frame.high)
        middle = x * np.asarray(view.right) + y * np.asarray(view.up)
        camera.ParallelProjectionOn()
        camera.SetParallelScale(0.5 * frame.extent[1])
        camera.SetFocalPoint(middle)
        camera.SetPosition(middle + 10.0 * size * np.asarray(view.toward))
        camera.SetViewUp(view.up)


def _pixels(window: Any) -> Any:
    """The picture, as an array of VTK."""
    import vtk

    grabbed = vtk.vtkWindowToImageFilter()
    grabbed.SetInput(window)
    grabbed.ShouldRerenderOff()
    grabbed.ReadFrontBufferOff()
    grabbed.Update()
    return grabbed.GetOutput()


def run(repeats: int = 3, seconds: float | None = None) -> Report:
    """Film two mechanisms. seconds: of each film, by default those of `MECHANISMS`."""
    facts, rows, wanted = environment(), list[Row](), list[Row]()
    others = find_spec("vtk") is not None
    for name, (make, lasts) in MECHANISMS.items():
        mech = make()
        moves = bc.simulate(mech, lasts if seconds is None else seconds)
        count = round(float(moves.time[-1]) * FPS) + 1
        filmed, paths = Filmed(moves, count), [list(mech.bodies)[1]] if name == "four-bar" else []
        films = [film(moves, paths) for _ in range(repeats)]
        row: Row = {
            "mechanism": name, "triangles": filmed.triangles, "pictures": count, "kb": films[0][1],
            "film": Spread.of([spent for spent, _ in films], 1.0 / count),
            "painting": Spread.of([filmed.painting() for _ in range(repeats)], 1.0 / count),
            "vtk": Spread.of([filmed.vtk() for _ in range(repeats)], 1.0 / count) if others else None,
        }  # fmt: skip
        rows.append(row)
        limit = LIMITS[name]
        wanted += target(f"{name}: CPU s a picture of a film", limit, row["film"].median, is_time=True)
    note = f"VTK {version('vtk')}, off the screen." if others else "VTK is not installed: pip install vtk."
    return Report(
        "films",
        facts,
        {"repeats": repeats, "width": WIDTH, "height": HEIGHT, "fps": FPS},
        [Table("films", "CPU seconds a picture", _COLUMNS, rows), *targets_tables(wanted)],
        ("CPU time of all threads of the process, encoding (H.264) and overlays included in films.", note),
    )


@click.command()
@click.option("--seconds", default=None, type=click.FloatRange(0.1), help="Of each film.")
@repeats_option(3)
@form_option
def command(seconds: float | None, repeats: int, form: Form) -> None:
    """Films of a four-bar and of a rope bridge: CPU seconds a picture; painting alone, beside VTK."""
    publish([run(repeats, seconds)], form)


def main(arguments: list[str]) -> int:
    """The command line of `bellcrank bench films`."""
    return invoke(command, "films", arguments)
