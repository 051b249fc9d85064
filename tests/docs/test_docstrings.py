"""Every public function, class and method has an example in its docstring, and what it shows is true.

The names that examples may use without making them are those of docs_site/ready.py.
"""

import doctest
import inspect
import re

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest
from docs_site import ready, reference

import bellcrank as bc

EXEMPT = {
    "bellcrank.build_info": "its docstring is made by the core",
    "bellcrank.expression.Expression": "its docstring is made by the core",
}
UNSEEN = {"bellcrank.Model": "its methods are for those who write a formulation"}
NEEDS = {  # what an example calls: the package of an extra
    r"\.draw\(|\.plot\(|\.plot_parameters\(|\.animate\(": "matplotlib",
    r"\.view\(": "websockets",
    r"Mesh\(": "trimesh",
    r"from_image": "PIL",
    r"to_xarray": "xarray",
    r"to_control": "control",
    r"\.table\(": "pandas",
    r"bc\.fit\(|bc\.optimize\(|bc\.reduce\(": "scipy",
    r"bc\.flexible\(|pulled_bar": "skfem",
}
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def public():
    """The public functions and classes by path, then the methods of classes whose objects users hold."""
    found = {}
    for group in reference.collected().values():
        for path, value in group.members.items():
            if callable(value) and not isinstance(value, bc.expression.Expression):
                found[path] = value
            if inspect.isclass(value) and not reference._is_kind(value) and path not in UNSEEN:
                for name, member in reference.members_of(value):
                    if not isinstance(member, property):
                        found[f"{path}.{name}"] = getattr(member, "__func__", member)
    return {path: value for path, value in found.items() if path not in EXEMPT}


def once():
    """The same without what classes inherit: the docstring of each by its first path."""
    found = {}
    for path, value in public().items():
        origin = inspect.unwrap(value)
        found.setdefault((origin.__module__, origin.__qualname__), (path, value.__doc__))
    return dict(found.values())


def shown(text):
    return doctest.DocTestParser().get_examples(text or "")


def overridden(path):
    """The docstrings of a method in the bases of its class."""
    *owner, name = path.split(".")
    cls = bc
    for part in owner[1:]:
        cls = getattr(cls, part)
    return [vars(base)[name].__doc__ for base in getattr(cls, "__mro__", ())[1:] if name in vars(base)]


class Checker(doctest.OutputChecker):
    """Compares without the sign of zeros and the blanks inside brackets, in which NumPy writes it."""

    def check_output(self, want, got, optionflags):
        return super().check_output(plain(want), plain(got), optionflags)


def plain(text):
    text = re.sub(r"-(0(\.0*)?)(?![\d.e])", r"\1", text)
    return re.sub(r"\s+(?=\])|(?<=\[)\s+", "", text)


def test_every_public_name_has_an_example():
    mute = [
        path
        for path, text in once().items()
        if not any(example.want for example in shown(text))
        and not any(shown(base) for base in overridden(path))
    ]
    assert mute == []


@pytest.mark.usefixtures("own_joint_kinds")
@pytest.mark.parametrize("path", [path for path, text in once().items() if shown(text)])
def test_example(path, tmp_path, monkeypatch):
    text = public()[path].__doc__
    for calls, package in NEEDS.items():
        if re.search(calls, text):
            pytest.importorskip(package)
    monkeypatch.chdir(tmp_path)
    mpl.use("Agg")
    said = []
    test = doctest.DocTestParser().get_doctest(text, ready.names_for(text), path, None, None)
    runner = doctest.DocTestRunner(Checker(), verbose=False, optionflags=OPTIONS)
    runner.run(test, out=said.append)
    plt.close("all")
    assert not runner.failures, "".join(said)


def test_what_must_fail_fails():
    assert plain("[ 1.  -0. 0.5]\n") == plain("[1.  0. 0.5]\n")
    assert plain("-0.001") != plain("0.001")
    assert not Checker().check_output("0.5\n", "0.6\n", OPTIONS)
