"""A study's settings as plain text, so that results of different settings are never mixed."""

import hashlib
import json
from collections.abc import Mapping
from functools import partial
from types import CodeType, FunctionType, MethodType
from typing import Any

import joblib
import numpy as np

from viewspan.studies.study import Study
from viewspan.studies.trial import versions

VERSIONED = ("builtins", "numpy", "scipy", "sklearn", "viewspan")
"""Packages whose version is part of the settings, so that their code need not be."""


def describe_study(study: Study, seed: int) -> dict[str, Any]:
    """Everything that a trial's rows follow from, besides the trial's number. The title is not part of it."""
    return {
        "study": study.name,
        "seed": seed,
        "generate": describe(study.generate),
        "noise": list(study.noise),
        "methods": [
            {
                "name": m.name,
                "setting": m.setting,
                "views": m.views,
                "estimator": describe(m.estimator),
            }
            for m in study.methods
        ],
        "versions": versions(),
    }


def key(settings: Mapping[str, Any]) -> str:
    """A short name for the settings; other settings, another name."""
    text = json.dumps(settings, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def describe(value: Any, seen: frozenset[int] = frozenset()) -> Any:
    """The value in words of JSON: functions and classes by their code and what it refers to, estimators by their
    parameters, anything else by its hash.
    """
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if id(value) in seen:  # a function that calls itself
        return "itself"
    seen |= {id(value)}
    if isinstance(value, Mapping):
        return {str(name): describe(part, seen) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [describe(part, seen) for part in value]
    if isinstance(value, partial):
        return {
            "partial": [describe(part, seen) for part in (value.func, value.args, value.keywords)]
        }
    if isinstance(value, MethodType):
        return {"method": describe(value.__func__, seen), "of": describe(value.__self__, seen)}
    if isinstance(value, FunctionType):
        return _describe_function(value, seen)
    if isinstance(value, type):
        return {"class": _name(value), "code": _class_code(value)}
    if hasattr(value, "get_params"):
        return {
            **describe(type(value), seen),
            "parameters": describe(value.get_params(deep=False), seen),
        }
    if isinstance(value, np.ndarray | np.generic) or not hasattr(value, "__dict__"):
        return {"class": _name(type(value)), "hash": joblib.hash(value)}
    return {**describe(type(value), seen), "hash": joblib.hash(value)}


def _describe_function(function: FunctionType, seen: frozenset[int]) -> dict[str, Any]:
    """Its code, the values its closure holds, and its defaults: two functions of one text can differ in those."""
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    parts = {
        "closure": cells,
        "defaults": function.__defaults__,
        "keyword_defaults": function.__kwdefaults__,
    }
    described = {name: describe(part, seen) for name, part in parts.items() if part}
    return {"function": _name(function), "code": _digest(_code(function.__code__)), **described}


def _class_code(kind: type) -> str:
    """The code of all methods, own and inherited, of classes that no version stands for."""
    own = [base for base in kind.__mro__ if base.__module__.partition(".")[0] not in VERSIONED]
    functions = {
        f"{base.__qualname__}.{name}": _code(member.__code__)
        for base in own
        for name, member in vars(base).items()
        if isinstance(member, FunctionType)
    }
    return _digest(sorted(functions.items()))


def _code(code: CodeType) -> Any:
    """What a function does, without where it stands: the same in every process, whatever the order of a set."""
    constants = [
        _code(part) if isinstance(part, CodeType) else _constant(part) for part in code.co_consts
    ]
    return (code.co_code.hex(), code.co_names, constants)


def _constant(value: Any) -> Any:
    return sorted(map(repr, value)) if isinstance(value, frozenset) else repr(value)


def _digest(value: Any) -> str:
    return hashlib.sha256(repr(value).encode()).hexdigest()[:12]


def _name(thing: Any) -> str:
    return f"{thing.__module__}.{thing.__qualname__}"
