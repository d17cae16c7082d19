"""Settings of a study as JSON, and the key under which trials with these settings are stored.

Trials of different settings have different keys, so their results are never mixed.
"""

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

VERSIONED_PACKAGES = ("builtins", "numpy", "scipy", "sklearn", "viewspan")
"""Packages whose version is part of the settings, so that the code of their classes need not be."""


def describe_study(study: Study, seed: int) -> dict[str, Any]:
    """Return everything that determines the rows of a trial, except for the trial's number.

    The title of the study is left out, because it changes no result.
    """
    return {
        "study": study.name,
        "seed": seed,
        "generate": describe(study.generate),
        "noise": list(study.noise),
        "methods": [
            {
                "name": method.name,
                "setting": method.setting,
                "views": method.views,
                "estimator": describe(method.estimator),
            }
            for method in study.methods
        ],
        "versions": versions(),
    }


def settings_key(settings: Mapping[str, Any]) -> str:
    """Return a short hash of the settings."""
    text = json.dumps(settings, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def drop_versioned_code(description: dict[str, Any]) -> dict[str, Any]:
    """Return the description of a function without its code hash if its package is versioned.

    The hash changes even with a docstring. The version in the settings stands for the code, so
    settings that differ only in these hashes describe the same study.
    """
    if _package(str(description.get("function"))) not in VERSIONED_PACKAGES:
        return description
    return {name: value for name, value in description.items() if name != "code"}


def describe(value: Any, seen: frozenset[int] = frozenset()) -> Any:
    """Return a JSON description of a value.

    Functions and classes are described by their code and the values it refers to, estimators by
    their parameters, and anything else by its hash.
    """
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if id(value) in seen:  # for example a function that calls itself
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
        return {"class": _qualified_name(value), "code": _class_code_hash(value)}
    if hasattr(value, "get_params"):
        return {
            **describe(type(value), seen),
            "parameters": describe(value.get_params(deep=False), seen),
        }
    if isinstance(value, np.ndarray | np.generic) or not hasattr(value, "__dict__"):
        return {"class": _qualified_name(type(value)), "hash": joblib.hash(value)}
    return {**describe(type(value), seen), "hash": joblib.hash(value)}


def _describe_function(function: FunctionType, seen: frozenset[int]) -> dict[str, Any]:
    """Return the name, code hash, closure and default arguments of a function."""
    parts = {
        "closure": [cell.cell_contents for cell in function.__closure__ or ()],
        "defaults": function.__defaults__,
        "keyword_defaults": function.__kwdefaults__,
    }
    return {
        "function": _qualified_name(function),
        "code": _short_hash(_plain_code(function.__code__)),
        **{name: describe(part, seen) for name, part in parts.items() if part},
    }


def _class_code_hash(kind: type) -> str:
    """Return a hash of all methods, own and inherited, that no versioned package defines."""
    bases = [base for base in kind.__mro__ if _package(base.__module__) not in VERSIONED_PACKAGES]
    methods = {
        f"{base.__qualname__}.{name}": _plain_code(member.__code__)
        for base in bases
        for name, member in vars(base).items()
        if isinstance(member, FunctionType)
    }
    return _short_hash(sorted(methods.items()))


def _plain_code(code: CodeType) -> Any:
    """Return bytecode, names and constants, which are the same in every process.

    The file name and line numbers of the code are left out, and sets are sorted.
    """
    constants = [
        _plain_code(part) if isinstance(part, CodeType) else _plain_constant(part)
        for part in code.co_consts
    ]
    return (code.co_code.hex(), code.co_names, constants)


def _plain_constant(value: Any) -> Any:
    return sorted(map(repr, value)) if isinstance(value, frozenset) else repr(value)


def _short_hash(value: Any) -> str:
    return hashlib.sha256(repr(value).encode()).hexdigest()[:12]


def _qualified_name(value: Any) -> str:
    return f"{value.__module__}.{value.__qualname__}"


def _package(name: str) -> str:
    return name.partition(".")[0]
