"""Builds the module dgat._core with CMake.

Environment:
  DGAT_BUILD_DIR        a build folder of dgat to use; modules that are built there are not built again
  DGAT_BUNDLE_OPENBLAS  1: put OpenBLAS and what it needs into the package (a wheel for other machines)
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
BUILD = pathlib.Path(os.environ.get("DGAT_BUILD_DIR", ROOT / "build" / "python")).resolve()
PACKAGE = BUILD / "python" / "package"  # what setuptools writes: nothing of it is left in the sources or in a later wheel


class CMakeBuild(build_ext):
    def build_extension(self, ext):
        folder = BUILD
        command = ["cmake", "-S", str(ROOT), "-B", str(folder), "-D", "DGAT_BUILD_PYTHON=ON",
                   "-D", f"Python_EXECUTABLE={sys.executable}"]
        if not (folder / "CMakeCache.txt").exists():
            command += ["-G", "Ninja", "-D", "CMAKE_BUILD_TYPE=Release"]
            command += ["-D" + part for part in ("DGAT_BUILD_APPS=OFF", "DGAT_BUILD_TESTS=OFF",
                                                 "DGAT_BUILD_BENCH=OFF", "DGAT_BUILD_EXAMPLES=OFF")]
        subprocess.run(command, check=True)
        jobs = str(len(os.sched_getaffinity(0)))
        subprocess.run(["cmake", "--build", str(folder), "--target", "dgat_python", "-j", jobs], check=True)
        target = pathlib.Path(self.get_ext_fullpath(ext.name))
        target.parent.mkdir(parents=True, exist_ok=True)
        built = folder / "python" / target.name
        shutil.copy2(built, target)
        if os.environ.get("DGAT_BUNDLE_OPENBLAS") == "1":
            self.bundle(folder, target.parent / "_libs")

    @staticmethod
    def bundle(folder, libraries):
        """OpenBLAS beside the module, and the libraries of the compiler that it needs."""
        cache = (folder / "CMakeCache.txt").read_text()
        openblas = pathlib.Path(re.search(r"BLAS_openblas_LIBRARY:\w+=(.*)", cache)[1]).resolve()
        libraries.mkdir(exist_ok=True)
        shutil.copy2(openblas, libraries / "libopenblas.so.0")
        listed = subprocess.run(["ldd", str(openblas)], check=True, capture_output=True, text=True).stdout
        for name, path in re.findall(r"(lib(?:gfortran|quadmath)\S*) => (\S+)", listed):
            shutil.copy2(pathlib.Path(path).resolve(), libraries / name)


version = re.search(r"project\(dgat\s+VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text())[1]
shutil.rmtree(PACKAGE, ignore_errors=True)
PACKAGE.mkdir(parents=True)
setup(
    version=version,
    ext_modules=[Extension("dgat._core", sources=[])],
    cmdclass={"build_ext": CMakeBuild},
    options={"build": {"build_base": str(PACKAGE)}, "egg_info": {"egg_base": str(PACKAGE)}},
)
