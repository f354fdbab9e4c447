"""The options of training, from the one table of dgat."""

from __future__ import annotations

import inspect
import numbers
from typing import Any, Mapping, Union

from dgat import _core

# Options about the data set; an estimator is given one.
DATA_OPTIONS = ("data", "directed", "split", "split_file", "splits")

Settings = dict[str, str]


def options() -> list[dict[str, Any]]:
    """Every option of training: key, group, value, meaning, default.

    Returns
    -------
    list of dict
        In the order of ``config.yaml``. ``default`` is that of recipe ``residual``; a recipe, a
        model or (recipe ``classic``) a data set of the paper may start from another.

    Examples
    --------
    >>> import dgat
    >>> [row["key"] for row in dgat.options() if row["group"] == "Direction"][:4]
    ['directional', 'laplacian', 'alpha', 'gamma']
    """
    return _core.options()


def models() -> list[dict[str, Any]]:
    """Every model: name, description, equations, reference, defaults, extras.

    Returns
    -------
    list of dict
        ``extras`` has the options of one model only, by name: default, smallest value, largest
        value, meaning.

    Examples
    --------
    >>> import dgat
    >>> "dgat" in [model["name"] for model in dgat.models()]
    True
    """
    return _core.models()


def set_threads(threads: int) -> None:
    """How many threads a call of dgat may use; 0 means all cores. Results do not depend on it.

    Parameters
    ----------
    threads : int

    Examples
    --------
    >>> import dgat
    >>> dgat.set_threads(0)
    """
    _core.set_threads(threads)


def text_of(key: str, value: Any) -> str:
    """A value as the command line writes it."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or type(value).__name__ == "bool_":
        return "on" if value else "off"
    if isinstance(value, numbers.Integral):
        return str(int(value))
    if isinstance(value, numbers.Real):
        number = float(value)
        return str(int(number)) if number.is_integer() and abs(number) < 2**53 else repr(number)
    if key == "layers" and isinstance(value, range) and value.step == 1 and len(value) > 0:
        return f"{value[0]}..{value[-1]}"
    if key == "layers" and isinstance(value, (tuple, list)) and len(value) == 2:
        return f"{int(value[0])}..{int(value[1])}"
    raise ValueError(f"{key}: a number, a text or a bool was expected, got {value!r}")


def time_of(value: Union[str, float, None]) -> str:
    """Seconds, or a time such as "2h", as the command line writes it. None: no limit."""
    return "" if value is None else value if isinstance(value, str) else f"{value:g}s"


def settings_of(given: Mapping[str, Any]) -> Settings:
    """Options as text by key. None means: not given. Checks names, values and ranges."""
    settings: Settings = {}
    for key, value in given.items():
        if value is None:
            continue
        if key == "extra" and isinstance(value, Mapping):
            for name, number in value.items():
                settings[f"extra.{name}"] = text_of(f"extra.{name}", number)
            continue
        text = text_of(key, value)
        _core.check_option(key, text)
        settings[key] = text
    return settings


def _value(text: str) -> Any:
    """Text of the option table as a Python value."""
    if text in ("on", "off"):
        return text == "on"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def changed_options(config: Mapping[str, str]) -> dict[str, Any]:
    """The options of an estimator that differ from the defaults, as Python values."""
    usual = {row["key"]: row["default"] for row in estimator_options()}
    given = {key: _value(text) for key, text in config.items() if key in usual and text != usual[key]}
    if "extra" in given:
        given["extra"] = {name: float(value) for name, value in (pair.split("=") for pair in given["extra"].split(","))}
    return given


def estimator_options() -> list[dict[str, Any]]:
    """The rows of the table that an estimator has as parameters."""
    return [row for row in _core.options() if row["key"] not in DATA_OPTIONS]


def _python_type(row: Mapping[str, Any]) -> str:
    kinds = {"INT": "int", "FLOAT": "float", "on|off": "bool"}
    if row["key"] == "layers":
        return "int, (int, int) or str"
    if row["key"] == "extra":
        return "dict"
    if row["key"] == "epsilon":
        return "float or str"
    if "|" in row["value"] and row["value"] != "on|off":
        return "{" + ", ".join(repr(name) for name in row["value"].split("|")) + "}"
    return kinds.get(row["value"], "str")


def option_docs(left_out: tuple[str, ...] = ()) -> str:
    """The rows as the parameters of a NumPy docstring."""
    lines = []
    for row in estimator_options():
        if row["key"] in left_out:
            continue
        lines.append(f"{row['key']} : {_python_type(row)}, optional")
        shown = f" Default {row['default']}." if row["default"] else ""
        lines.append(f"    {row['meaning']}.{shown}")
    return "\n".join(lines)


def signature(first: list[inspect.Parameter], left_out: tuple[str, ...] = ()) -> inspect.Signature:
    """The parameters given, then a keyword with default None for every option."""
    parameters = list(first)
    taken = {parameter.name for parameter in first}
    for row in estimator_options():
        if row["key"] not in left_out and row["key"] not in taken:
            parameters.append(inspect.Parameter(row["key"], inspect.Parameter.KEYWORD_ONLY, default=None))
    return inspect.Signature(parameters)
