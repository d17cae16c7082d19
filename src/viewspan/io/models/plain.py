"""From models to JSON and numbered arrays, and back.

Texts, finite numbers, ``true``, ``false``, ``null`` and lists stand for themselves. Everything else is an object with
one key, its kind: ``{"array": 3}``, ``{"tuple": […]}``, ``{"CLRSC": {"n_clusters": 5, …}}``. What comes a second time
is ``{"again": 7}``: the seventh of those that can.
"""

import math
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import scipy.sparse

from viewspan._utils.linalg import Spectrum
from viewspan._utils.sparse import points_inside
from viewspan._utils.typing import AnyArray
from viewspan.estimators.base import SubspaceClusterer
from viewspan.estimators.clrsc import CLRSC
from viewspan.estimators.lrr import LRR
from viewspan.estimators.mlap import MLAP
from viewspan.estimators.ssc import SSC
from viewspan.fit.fitting import Fitted
from viewspan.graph.unite import Unite, United
from viewspan.inference.recognition import Known
from viewspan.inputs.preparation import Columns, Preparation, Treatment
from viewspan.objective.coordinates import ByFeatures, BySamples
from viewspan.objective.reduction import Reduction
from viewspan.solvers.result import Check, Result

MODELS: dict[str, type[SubspaceClusterer]] = {
    kind.__name__: kind for kind in (CLRSC, LRR, MLAP, SSC)
}
RECORDS: dict[str, type[Any]] = {
    kind.__name__: kind
    for kind in (
        *(ByFeatures, BySamples, Check, Columns, Fitted, Known, Preparation),
        *(Reduction, Result, Spectrum, Treatment, Unite, United),
    )
}
"""What models are made of. Nothing else is ever made."""
NOT_FINITE = ("nan", "inf", "-inf")


class Encoder:
    """One model. ``arrays`` are those that the JSON counts."""

    def __init__(self) -> None:
        self.arrays: list[AnyArray] = []
        self._numbers: dict[int, int] = {}
        self._places: dict[int, int] = {}
        self._alive: list[Any] = []  # or the number of something that is gone would be another's

    def encode(self, value: Any) -> Any:
        if value is None or isinstance(value, bool | str | int):
            return value
        if isinstance(value, float) and not isinstance(value, np.generic):
            return value if math.isfinite(value) else {"float": str(value)}
        if type(value) is list:
            return [self.encode(item) for item in value]
        if type(value) is tuple:
            return {"tuple": [self.encode(item) for item in value]}
        if isinstance(value, dict):
            return {"dict": [[self.encode(key), self.encode(item)] for key, item in value.items()]}
        if isinstance(value, np.ndarray | np.generic):
            return self._array(value)
        if isinstance(value, np.random.RandomState):
            return {"RandomState": self.encode(value.get_state())}
        return self._again_or(value)

    def _array(self, value: AnyArray | np.generic) -> Any:
        if value.dtype == object and all(isinstance(item, str) for item in value.flat):
            return {"texts": [list(value.flat), list(value.shape)]}
        if value.dtype == object:
            raise TypeError("Arrays of other objects than texts cannot be saved.")
        number = self._numbers.setdefault(id(value), len(self.arrays))
        if number == len(self.arrays):
            self.arrays.append(np.asarray(value))
            self._alive.append(value)
        return {"array": number}

    def _again_or(self, value: Any) -> Any:
        if id(value) in self._places:
            return {"again": self._places[id(value)]}
        found = self._made_of(value)
        self._places[id(value)] = len(self._places)
        self._alive.append(value)
        return found

    def _made_of(self, value: Any) -> Any:
        name = type(value).__name__
        if isinstance(value, scipy.sparse.csr_array):
            parts = [value.data, value.indices, value.indptr]
            return {"csr": [list(map(int, value.shape)), *map(self._array, parts)]}
        if RECORDS.get(name) is type(value):
            return {
                name: {
                    field: self.encode(getattr(value, field)) for field in field_names(type(value))
                }
            }
        if MODELS.get(name) is type(value):
            return {name: {attribute: self.encode(item) for attribute, item in vars(value).items()}}
        raise TypeError(
            f"{value!r:.80} is a {type(value).__module__}.{name}, which cannot be saved: give parameters as numbers, "
            "texts, lists or arrays."
        )


class Decoder:
    """Makes again what an encoder has seen."""

    def __init__(self, arrays: list[AnyArray]) -> None:
        self._arrays = arrays
        self._made: list[Any] = []
        self._makers: dict[str, Callable[[Any], Any]] = {
            "array": self._array,
            "again": lambda place: self._made[natural(place)],
            "csr": self._csr,
            "dict": lambda pairs: {self.decode(key): self.decode(item) for key, item in pairs},
            "float": not_finite,
            "RandomState": self._random_state,
            "texts": texts,
            "tuple": lambda items: tuple(map(self.decode, items)),
        }

    def decode(self, node: Any) -> Any:
        if isinstance(node, list):
            return [self.decode(item) for item in node]
        if not isinstance(node, dict):
            return node
        [(kind, content)] = node.items()
        if kind in self._makers:
            return self._makers[kind](content)
        if kind in RECORDS:
            return self._keep(self._record(RECORDS[kind], content))
        if kind in MODELS:
            return self._keep(self._model(MODELS[kind], content))
        raise ValueError(f"it asks for {kind!r:.60}, which no model of viewspan needs")

    def _keep(self, value: Any) -> Any:
        self._made.append(value)
        return value

    def _array(self, number: Any) -> Any:
        array = self._arrays[natural(number)]
        return array if array.ndim else array[()]

    def _record(self, kind: type[Any], content: dict[str, Any]) -> Any:
        if set(content) != set(field_names(kind)):
            raise ValueError(f"its {kind.__name__} is not made of {', '.join(field_names(kind))}")
        return kind(**{field: self.decode(node) for field, node in content.items()})

    def _model(self, kind: type[SubspaceClusterer], content: dict[str, Any]) -> SubspaceClusterer:
        """No method can be replaced: what is called later is what the class says."""
        for name in content:
            if callable(getattr(kind, name, None)) or name.startswith("__"):
                raise ValueError(f"{kind.__name__} keeps nothing in {name!r:.60}")
        names = content.pop("_view_names", None)  # as viewspan 0.1 called them
        if names is not None:
            content["view_names_in_"] = names
        model = kind()
        model.__dict__.update({name: self.decode(node) for name, node in content.items()})
        return model

    def _csr(self, content: Any) -> Any:
        shape, *parts = content
        data, indices, indptr = (np.asarray(self.decode(part)) for part in parts)
        n_rows, n_columns = map(natural, shape)
        plain = {data.ndim, indices.ndim, indptr.ndim} == {1} and {
            indices.dtype.kind,
            indptr.dtype.kind,
        } == {"i"}
        if not plain or not points_inside(indptr, indices, len(data), (n_rows, n_columns)):
            raise ValueError("a sparse array points outside of itself")
        return self._keep(
            scipy.sparse.csr_array((data, indices, indptr), shape=(n_rows, n_columns))
        )

    def _random_state(self, state: Any) -> np.random.RandomState:
        generator = np.random.RandomState()
        generator.set_state(self.decode(state))
        return generator


def field_names(kind: type[Any]) -> tuple[str, ...]:
    """Of a dataclass or a named tuple."""
    return tuple(field.name for field in fields(kind)) if is_dataclass(kind) else kind._fields


def natural(number: Any) -> int:
    if type(number) is not int or number < 0:
        raise ValueError(f"{number!r:.40} is no number of a part")
    return number


def not_finite(text: Any) -> float:
    if text not in NOT_FINITE:
        raise ValueError(f"{text!r:.40} is no number")
    return float(text)


def texts(content: Any) -> AnyArray:
    items, shape = content
    if not all(isinstance(item, str) for item in items):
        raise ValueError("a list of texts holds something else")
    array = np.empty(len(items), dtype=object)
    array[:] = items
    return array.reshape(tuple(map(natural, shape)))
