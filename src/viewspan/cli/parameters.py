"""Parameters of the estimators as the command line knows them, checked without their classes.

A wrong value is reported before numpy and scikit-learn are imported, which takes seconds. A test
compares the tables of this file with the constraints of the estimators.
"""

import math
import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Literal, get_args

from viewspan._utils.signals import immediate_exit
from viewspan.io.readers.table import InputError

Method = Literal["clrsc", "lrr", "ssc", "mlap"]
METHODS: tuple[Method, ...] = get_args(Method)
AUTO = "auto"

METHODS_WITH: dict[str, tuple[Method, ...]] = {
    "tau": ("clrsc", "mlap"),
    "datafit": ("clrsc", "lrr"),
    "penalty": ("clrsc",),
    "coupling": ("clrsc",),
    "missing": ("clrsc",),
    "fusion": ("lrr", "ssc"),
    "graph": ("clrsc", "lrr"),
    "n_landmarks": ("clrsc", "lrr"),
    "solver": ("clrsc", "lrr", "mlap"),
}
"""Methods that have a parameter. A parameter that is not listed belongs to all methods."""

WORDS: dict[str, tuple[str, ...]] = {
    "affinity": (AUTO, "patterns", "coefficients"),
    "assign_labels": (AUTO, "discretize", "cluster_qr", "kmeans", "modularity"),
    "coupling": ("nuclear", "l12", "rank_one", "none"),
    "datafit": ("frobenius", "half_frobenius", "l12", "l1"),
    "fusion": ("late", "concat"),
    "graph": (AUTO, "dense", "landmarks"),
    "missing": ("forbid", "allow"),
    "penalty": ("nuclear", "l1"),
    "solver": ("admm", "ladmpsap"),
}
"""Values of the parameters that are words."""
WORDS_OF_LRR: dict[str, tuple[str, ...]] = {
    "datafit": ("frobenius", "l12"),
    "solver": ("admm", "ladmap"),
}
"""Values of the parameters that have others for ``--method lrr``."""
READINGS = (AUTO, "directions", "positions")
AXES = ("datafit", "penalty", "coupling")
IMAGE_SHAPE = re.compile(r"(\d+)[x×](\d+)(?:[x×]([13]))?$")


def option_name(parameter: str) -> str:
    return f"--{parameter.replace('_', '-')}"


def one_of(names: Sequence[str]) -> str:
    """Return names as "a, b or c"."""
    return " or ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def wrong_value(parameter: str, expected: str, given: object) -> InputError:
    return InputError(f"{option_name(parameter)} must be {expected}. Got {given!r} instead.")


def parse_image_shape(text: str) -> tuple[int, ...]:
    found = IMAGE_SHAPE.match(text)
    if found is None:
        raise wrong_value("image_shape", "like 8x8, or 8x8x3 for colour", text)
    return tuple(int(size) for size in found.groups() if size is not None)


def parse_decimal(text: str) -> str:
    """Return the decimal sign of text tables."""
    if text not in {".", ","}:
        raise wrong_value("decimal", "'.' or ','", text)
    return text


def parse_n_clusters(text: str) -> int | None:
    """Return the number of clusters, or None for "auto"."""
    if text == AUTO:
        return None
    if not text.isdecimal() or int(text) == 0:
        raise wrong_value("n_clusters", "a whole number from 1, or auto", text)
    return int(text)


def parse_weights(parameter: str, text: str, words: tuple[str, ...]) -> Any:
    """Return one of the words, a number, or a list of numbers; all are finite and at least 0."""
    if text in words:
        return text
    try:
        values = [float(part) for part in text.split(",")]
    except ValueError:
        values = [math.nan]
    if not all(0 <= value < math.inf for value in values):
        numbers = "numbers of at least 0, separated by commas, one per view"
        raise wrong_value(parameter, f"{', '.join(words)}, or {numbers}", text)
    return values[0] if len(values) == 1 else values


def parse_tau(text: str) -> Any:
    """Return "auto" or a number of at least 0."""
    if "," in text:
        raise wrong_value("tau", "auto or one number, because it couples all views", text)
    return parse_weights("tau", text, (AUTO,))


def parse_switch(parameter: str, text: str) -> bool | str:
    """Return True, False or "auto"."""
    values: dict[str, bool | str] = {"yes": True, "true": True, "no": False, "false": False}
    values[AUTO] = AUTO
    if text.lower() not in values:
        raise wrong_value(parameter, "auto, yes or no", text)
    return values[text.lower()]


def parse_readings(text: str) -> Any:
    """Return one reading, or a list of one per view."""
    words = text.split(",")
    if not set(words) <= set(READINGS):
        raise wrong_value("read_as", f"{one_of(READINGS)}, or one per view with commas", text)
    return words[0] if len(words) == 1 else words


def check_count(parameter: str, value: int) -> int:
    if value < 1:
        raise wrong_value(parameter, "a whole number from 1", value)
    return value


def check_tolerance(value: float) -> float:
    if not 0 < value < math.inf:
        raise wrong_value("tol", "a number above 0", value)
    return value


def check_word(method: Method, parameter: str, text: str) -> str:
    own = WORDS_OF_LRR if method == "lrr" else {}
    words = own.get(parameter, WORDS[parameter])
    if text not in words:
        name = f"{parameter} with --method {method}" if parameter in WORDS_OF_LRR else parameter
        raise wrong_value(name, one_of(words), text)
    return text


PARSERS: dict[str, Callable[[Any], Any]] = {
    "lam": lambda text: parse_weights("lam", text, (AUTO,)),
    "tau": parse_tau,
    "view_weights": lambda text: parse_weights("view_weights", text, (AUTO, "equal")),
    "read_as": parse_readings,
    "scale_features": partial(parse_switch, "scale_features"),
    "affine": partial(parse_switch, "affine"),
    "n_neighbors": partial(check_count, "n_neighbors"),
    "n_landmarks": partial(check_count, "n_landmarks"),
    "max_iter": partial(check_count, "max_iter"),
    "tol": check_tolerance,
}
"""Functions that check the text or number of an option and return the value of the parameter."""
PARAMETERS = {*WORDS, *PARSERS, "normalize"}
"""Parameters of the estimators that are options of the same name."""


def parse_parameters(method: Method, given: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters of an estimator; raise InputError for a value it does not take.

    Parameters
    ----------
    method : {"clrsc", "lrr", "ssc", "mlap"}
    given : dict
        Values of options as text, number or bool; None keeps the default.
    """
    values = {name: value for name, value in given.items() if value is not None}
    for name in values:
        methods = METHODS_WITH.get(name, METHODS)
        if method not in methods:
            raise InputError(
                f"{option_name(name)} is not an option of --method {method}, only of "
                f"{', '.join(methods)}."
            )
    return {name: parse_value(method, name, value) for name, value in values.items()}


def parse_value(method: Method, name: str, value: Any) -> Any:
    if name in WORDS:
        return check_word(method, name, value)
    return PARSERS[name](value) if name in PARSERS else value


def check_combination(parameters: dict[str, Any]) -> None:
    """Raise ValueError if the parameters of ``--method clrsc`` contradict each other."""
    if not parameters.keys() & {*AXES, "solver", "missing", "graph"}:
        return
    with immediate_exit():
        from viewspan.objective.axes import Axes  # here, because it needs numpy

    chosen = {name: parameters.get(name, WORDS[name][0]) for name in (*AXES, "solver")}
    solver, missing = chosen.pop("solver"), parameters.get("missing") == "allow"
    axes = Axes.choose(**chosen)
    axes.check(solver, missing=missing)
    if parameters.get("graph") == "landmarks":
        axes.check_landmarks(solver, missing=missing)
