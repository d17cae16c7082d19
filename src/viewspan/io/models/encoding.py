"""Encode models as JSON and numbered arrays, and decode them.

Text, finite numbers, ``true``, ``false``, ``null`` and lists stand for themselves. Everything else
is an object with one key, its kind: ``{"array": 3}``, ``{"tuple": […]}``, ``{"result": {…}}``. An
object that occurs a second time is ``{"again": 7}``: the seventh object in order of completion.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import scipy.sparse

from viewspan._utils.sparse import has_valid_structure
from viewspan._utils.typing import AnyArray
from viewspan.io.models.schema import RECORDS, Record

NOT_FINITE = ("nan", "inf", "-inf")


class Encoder:
    """Encoder of one model. The JSON refers to arrays by their position in ``arrays``."""

    def __init__(self) -> None:
        self.arrays: list[AnyArray] = []
        self._tags = {item.kind: tag for tag, item in RECORDS.items()}
        self._array_numbers: dict[int, int] = {}
        self._places: dict[int, int] = {}
        self._alive: list[Any] = []  # keeps encoded objects, so that no id is used twice

    def encode(self, value: Any) -> Any:
        """Return the JSON of a value; raise TypeError for objects that models are not made of."""
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
        return self._shared(value)

    def _array(self, value: AnyArray | np.generic) -> Any:
        if value.dtype == object and all(isinstance(item, str) for item in value.flat):
            return {"texts": [list(value.flat), list(value.shape)]}
        if value.dtype == object:
            raise TypeError("Arrays of other objects than texts cannot be saved.")
        number = self._array_numbers.setdefault(id(value), len(self.arrays))
        if number == len(self.arrays):
            self.arrays.append(np.asarray(value))
            self._alive.append(value)
        return {"array": number}

    def _shared(self, value: Any) -> Any:
        """Encode an object once and refer to it afterwards."""
        if id(value) in self._places:
            return {"again": self._places[id(value)]}
        node = self._object(value)
        self._places[id(value)] = len(self._places)
        self._alive.append(value)
        return node

    def _object(self, value: Any) -> Any:
        if isinstance(value, scipy.sparse.csr_array):
            parts = [value.data, value.indices, value.indptr]
            return {"csr": [list(map(int, value.shape)), *map(self._array, parts)]}
        tag = self._tags.get(type(value))
        if tag is None:
            raise TypeError(
                f"{value!r:.80} is a {type(value).__module__}.{type(value).__name__}, which cannot "
                "be saved: give parameters as numbers, texts, lists or arrays."
            )
        fields = RECORDS[tag].fields.items()
        return {tag: {name: self.encode(getattr(value, attribute)) for name, attribute in fields}}


class Decoder:
    """Decoder of encoded models. It creates only objects of the given records."""

    def __init__(self, arrays: list[AnyArray], records: Mapping[str, Record]) -> None:
        self._arrays = arrays
        self._records = records
        self._made: list[Any] = []
        self._makers: dict[str, Callable[[Any], Any]] = {
            "array": self._array,
            "again": lambda place: self._made[checked_index(place)],
            "csr": self._csr,
            "dict": lambda pairs: {self.decode(key): self.decode(item) for key, item in pairs},
            "float": parse_nonfinite,
            "RandomState": self._random_state,
            "texts": text_array,
            "tuple": lambda items: tuple(map(self.decode, items)),
        }

    def decode(self, node: Any) -> Any:
        """Return the value of a JSON node; raise ValueError for a kind that models do not need."""
        if isinstance(node, list):
            return [self.decode(item) for item in node]
        if not isinstance(node, dict):
            return node
        [(kind, content)] = node.items()
        if kind in self._makers:
            return self._makers[kind](content)
        if kind in self._records:
            return self._keep(self._record(kind, content))
        raise ValueError(f"it asks for {kind!r:.60}, which no model of viewspan needs")

    def decode_fields(self, content: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values of named nodes."""
        return {name: self.decode(node) for name, node in content.items()}

    def _keep(self, value: Any) -> Any:
        self._made.append(value)
        return value

    def _array(self, number: Any) -> Any:
        array = self._arrays[checked_index(number)]
        return array if array.ndim else array[()]

    def _record(self, tag: str, content: dict[str, Any]) -> Any:
        wanted = self._records[tag]
        lacking = set(wanted.fields) - set(content)
        if not (set(content) <= set(wanted.fields) and lacking <= set(wanted.added)):
            raise ValueError(f"its {tag} is not made of {', '.join(wanted.fields)}")
        earlier = {name: wanted.added[name] for name in lacking}
        return wanted.make(**self.decode_fields(content), **earlier)

    def _csr(self, content: Any) -> Any:
        shape, *parts = content
        data, indices, indptr = (np.asarray(self.decode(part)) for part in parts)
        n_rows, n_columns = map(checked_index, shape)
        one_dimensional = {data.ndim, indices.ndim, indptr.ndim} == {1}
        integers = {indices.dtype.kind, indptr.dtype.kind} == {"i"}
        inside = has_valid_structure(indptr, indices, len(data), (n_rows, n_columns))
        if not (one_dimensional and integers and inside):
            raise ValueError("a sparse array points outside of itself")
        return self._keep(
            scipy.sparse.csr_array((data, indices, indptr), shape=(n_rows, n_columns))
        )

    def _random_state(self, state: Any) -> np.random.RandomState:
        generator = np.random.RandomState()
        generator.set_state(self.decode(state))
        return generator


def checked_index(number: Any) -> int:
    """Return the number; raise ValueError unless it is an int of at least 0."""
    if type(number) is not int or number < 0:
        raise ValueError(f"{number!r:.40} is not an int of at least 0")
    return number


def parse_nonfinite(text: Any) -> float:
    """Return nan, inf or -inf from its name."""
    if text not in NOT_FINITE:
        raise ValueError(f"{text!r:.40} is no number")
    return float(text)


def text_array(content: Any) -> AnyArray:
    """Return an array of texts from its items and shape."""
    items, shape = content
    if not all(isinstance(item, str) for item in items):
        raise ValueError("a list of texts holds something else")
    array = np.empty(len(items), dtype=object)
    array[:] = items
    return array.reshape(tuple(map(checked_index, shape)))
