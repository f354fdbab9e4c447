"""The build backend of the repository's root: that of this folder, run from here."""

import os
import pathlib

os.chdir(pathlib.Path(__file__).resolve().parent)

from setuptools.build_meta import *  # noqa: E402, F401, F403
