"""A study's settings as plain text, so that results of different settings are never mixed."""

import hashlib
import inspect
import json
from collections.abc import Mapping
from functools import partial
from typing import Any

import joblib
import numpy as np

from viewspan.experiments.study import Study
from viewspan.experiments.trial import versions


def describe_study(study: Study, seed: int) -> dict[str, Any]:
    """Everything that a trial's rows follow from, besides the trial's number. The title is not part of it."""
    return {
        "study": study.name,
        "seed": seed,
        "generate": describe(study.generate),
        "noise": [float(noise) for noise in study.noise],
        "methods": [
            {"name": m.name, "setting": m.setting, "views": m.views, "estimator": describe(m.estimator)}
            for m in study.methods
        ],
        "versions": versions(),
    }


def key(settings: Mapping[str, Any]) -> str:
    """A short name for the settings; other settings, another name."""
    text = json.dumps(settings, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def describe(value: Any) -> Any:
    """The value in words of JSON: functions by their source, estimators by their parameters, arrays by their hash."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Mapping):
        return {str(name): describe(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [describe(part) for part in value]
    if isinstance(value, partial):
        return {"partial": describe(value.func), "args": describe(value.args), "keywords": describe(value.keywords)}
    if hasattr(value, "get_params") and not isinstance(value, type):
        return {"class": _name(type(value)), "parameters": describe(value.get_params(deep=False))}
    if inspect.isroutine(value) or isinstance(value, type):
        return {"function": _name(value), "source": _source_hash(value)}
    return {"class": _name(type(value)), "hash": joblib.hash(value)}


def _name(thing: Any) -> str:
    return f"{thing.__module__}.{thing.__qualname__}"


def _source_hash(function: Any) -> str:
    try:
        source = inspect.getsource(function)
    except (OSError, TypeError):  # typed at a prompt, or not written in Python
        code = getattr(function, "__code__", None)
        source = repr((code.co_code, code.co_names, code.co_consts)) if code else "unknown"
    return hashlib.sha256(source.encode()).hexdigest()[:12]
