"""The package itself: imports, examples of the documentation, types."""

import doctest
import importlib.util
import inspect
import pathlib
import pkgutil
import re
import subprocess
import sys
import warnings
import zlib

import pytest

import dgat
import dgat.pyg
from conftest import ROOT
from dgat import _core

STAND_IN = {
    "__init__": "",
    "data": "class Data:\n    def __init__(self, **given):\n        vars(self).update(given)\n",
    "nn": """
class GATConv:
    def __init__(self, *sizes, **options):
        pass

    def load_state_dict(self, state):
        self.state = dict(state)

    def state_dict(self):
        return self.state
""",
    "transforms": """
import copy


class BaseTransform:
    def __call__(self, data):
        return self.forward(copy.copy(data))
""",
}
NAMES = ["dgat"] + ["dgat." + info.name for info in pkgutil.iter_modules(dgat.__path__) if info.name != "_core"]


@pytest.mark.parametrize("name", NAMES)
def test_examples_of_the_documentation(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dgat.Notice)
        result = doctest.testmod(
            importlib.import_module(name), optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
        )
    assert result.failed == 0


def documented():
    """The public functions, classes and methods."""
    modules = [(dgat, name) for name in dgat.__all__] + [(dgat.pyg, name) for name in dgat.pyg.__all__]
    for module, name in modules:
        thing = getattr(module, name)
        yield pytest.param(thing, id=name)
        if isinstance(thing, type) and not issubclass(thing, Warning):
            for method, value in inspect.getmembers(thing, inspect.isroutine):
                if not method.startswith("_") and value.__module__.startswith("dgat"):
                    yield pytest.param(value, id=f"{name}.{method}")


@pytest.mark.parametrize("thing", documented())
def test_what_is_public_is_documented_with_an_example(thing):
    assert thing.__doc__
    if isinstance(thing, type):  # results of functions have the example of these
        return
    sections = ["Examples\n"]
    if set(inspect.signature(thing).parameters) - {"self"}:
        sections.append("Parameters\n")
    for section in sections:
        assert section in thing.__doc__, f"no section {section}"
    for parameter in inspect.signature(thing).parameters.values():
        starred = {parameter.VAR_KEYWORD: "**", parameter.VAR_POSITIONAL: "*"}.get(parameter.kind, "")
        assert parameter.name == "self" or re.search(
            rf"^ *(.*, )?{re.escape(starred + parameter.name)}(,.*)?( :|$)", thing.__doc__, re.M
        ), f"{parameter.name} is not documented"


def test_importing_loads_nothing_heavy(run_python):
    heavy = "sklearn scipy pandas torch networkx matplotlib tqdm".split()
    assert run_python(f"import sys, dgat; print([m for m in {heavy} if m in sys.modules])") == "[]"


def test_a_wheel_is_small():
    """With the OpenBLAS of the system; the other form has it in _libs."""
    folder = pathlib.Path(dgat.__file__).parent
    files = [path for path in folder.iterdir() if path.is_file()]
    assert _core.__file__ in map(str, files)
    assert sum(len(zlib.compress(path.read_bytes())) for path in files) < 3e6


def test_the_version_is_that_of_the_command_line(binary):
    printed = subprocess.run([binary, "--version"], capture_output=True, text=True).stdout
    assert printed.split()[:2] == ["dgat", dgat.__version__]


def test_types_are_those_of_the_running_package(tmp_path):
    """The stub of the module, and the types in the sources of the package."""
    pytest.importorskip("mypy", reason="mypy is not installed")
    allowed = tmp_path / "allowed"
    allowed.write_text(
        "dgat._core.(CsrGraph|Dataset|Features|Network|Place)\n"  # no stub can name the metaclass of pybind11
        r"dgat\..*Classifier\.__init__" "\n"  # made from the option table when the package is imported
        r"dgat\..*\.(Iterator|Mapping|NamedTuple|Sequence)" "\n"  # aliases of typing, a defect of mypy 1.0
    )
    config = tmp_path / "mypy.ini"
    config.write_text("[mypy]\nignore_missing_imports = True\ndisallow_untyped_defs = True\n")
    done = subprocess.run(
        [sys.executable, "-m", "mypy.stubtest", "dgat", "--allowlist", allowed, "--mypy-config-file", config],
        capture_output=True, text=True, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def test_types_of_a_users_program(tmp_path):
    pytest.importorskip("mypy", reason="mypy is not installed")
    (tmp_path / "program.py").write_text(
        "import dgat\n"
        "g = dgat.Graph.from_edge_index([[0], [1]])\n"
        "reveal_type(dgat.spectrum(g).converged)\n"
        "reveal_type(dgat.DGATClassifier(g, hidden=8).fit([0], [1]).predict([0]))\n"
        "dgat.spectrum(g, gama=1)\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "program.py", "--ignore-missing-imports", "--cache-dir", tmp_path / "cache"],
        capture_output=True, text=True, cwd=tmp_path,
    )  # fmt: skip
    assert 'Revealed type is "builtins.bool"' in done.stdout, done.stdout
    assert 'Unexpected keyword argument "gama"' in done.stdout
    assert "Found 1 error" in done.stdout, done.stdout


def test_the_package_is_marked_as_typed():
    assert (pathlib.Path(dgat.__file__).parent / "py.typed").exists()


@pytest.mark.parametrize("name, arguments", [("01_networkx", []), ("02_gamma", ["market"]), ("03_pyg", ["market"]),
                                             ("04_compare", ["market"])])  # fmt: skip
def test_the_notebooks_run(name, arguments):
    program = ROOT / "python" / "examples" / (name + ".py")
    data = [str(ROOT / "examples" / "market") if argument == "market" else argument for argument in arguments]
    done = subprocess.run([sys.executable, "-W", "ignore", program, *data], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout


@pytest.mark.parametrize("page", ["README.md", "docs/python.md"])
def test_the_page_shows_what_its_program_prints(page):
    """Blocks of Python with a block of output below; numbers may differ as in other pages."""
    spec = importlib.util.spec_from_file_location("run_page", ROOT / "tests" / "docs" / "run_page.py")
    run_page = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(run_page)
    programs = re.findall(r"```python\n(.*?)```\n+```\n(.*?)```", (ROOT / page).read_text(), re.S)
    assert programs, "no program with its output"
    for program, output in programs:
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, cwd=ROOT
        )
        assert done.returncode == 0, done.stderr
        found = run_page.difference(output.splitlines(), done.stdout.splitlines())
        assert found is None, f"{found}\n\nprinted:\n{done.stdout}"


def test_every_program_of_the_guide_runs(tmp_path):
    """In order, in one process. A package with the names of PyTorch Geometric stands in for it."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    (tmp_path / "torch_geometric").mkdir()
    for module, source in STAND_IN.items():
        (tmp_path / "torch_geometric" / f"{module}.py").write_text(source)
    programs = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "python.md").read_text(), re.S)
    checks = (
        "from torch_geometric.transforms import BaseTransform\n"
        "assert isinstance(DirectionalRewiring(), BaseTransform)\n"
        "assert data.edge_attr.shape == (data.edge_index.shape[1], 2)\n"
        "assert clf.predict(d).shape == y.shape\n"
    )
    (tmp_path / "guide.py").write_text("\n".join([*programs, checks]))
    done = subprocess.run([sys.executable, "-W", "ignore", "guide.py"], capture_output=True, text=True, cwd=tmp_path)
    assert len(programs) >= 3 and done.returncode == 0, done.stderr


def test_the_reference_names_all_that_is_public(tmp_path):
    pytest.importorskip("sphinx", reason="python3-sphinx is not installed")
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", "-W", "-q", "-E", "-b", "html", ROOT / "python" / "reference", tmp_path],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "index.html").read_text()
    for name in [f"dgat.{name}" for name in dgat.__all__] + [f"dgat.pyg.{name}" for name in dgat.pyg.__all__]:
        assert f'id="{name}"' in page, name
