"""Alignment of views by sample id."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from viewspan.io.readers.align import align
from viewspan.io.readers.table import InputError, Reading, Table


def table(name, ids, kind=np.asarray):
    """Return a view whose first column encodes the id of each row."""
    numbers = np.array([[float(ord(letter)), 1.0] for letter in ids])
    return Table(name, f"{name}.csv", Path(name), kind(numbers), np.array(list(ids)))


def without_ids(name, n_rows):
    return Table(name, f"{name}.npy", Path(name), np.ones((n_rows, 2)))


def column(values):
    values = values.toarray() if scipy.sparse.issparse(values) else np.asarray(values)
    return [None if np.isnan(value) else chr(int(value)) for value in values[:, 0]]


@pytest.mark.parametrize("kind", [np.asarray, pd.DataFrame, scipy.sparse.csr_array])
def test_rows_are_in_the_order_of_the_first_file(kind):
    found = align([table("a", "cab"), table("b", "abc", kind)], Reading())
    assert [column(view) for view in found.views.values()] == [list("cab"), list("cab")]
    assert list(found.ids) == list("cab")


def test_missing_samples_raise_by_default():
    with pytest.raises(
        InputError,
        match=r"2 of 4 ids are not in every file: a\.csv has no d; b\.csv has no c\. Add",
    ):
        align([table("a", "abc"), table("b", "abd")], Reading())


def test_missing_samples_are_dropped():
    reading = Reading()
    found = align([table("a", "abc"), table("b", "dba")], reading, "drop")
    assert [column(view) for view in found.views.values()] == [list("ab"), list("ab")]
    assert reading.notes == [
        "Left out: 2 of 4 ids are not in every file: a.csv has no d; b.csv has no c."
    ]


@pytest.mark.parametrize("missing", ["forbid", "allow", "drop"])
def test_files_without_a_common_id_raise(missing):
    with pytest.raises(
        InputError, match=r"No id is in every file: a\.csv has a, b and 1 more; b\.csv has x, y"
    ):
        align([table("a", "abc"), table("b", "xyz")], Reading(), missing)


def test_permuted_integer_columns_raise():
    """Without --id, rows would not match and the ids would be a feature."""
    frames = [pd.DataFrame({"patient": order, "x": 1.5}) for order in ([1, 2, 3], [3, 1, 2])]
    first, second = (
        Table(name, f"{name}.csv", Path(name), frame, columns=np.array(["patient", "x"]))
        for name, frame in zip("ab", frames, strict=True)
    )
    with pytest.raises(
        InputError,
        match="same numbers in column 'patient', but in another order; give --id 'patient'",
    ):
        align([first, second], Reading())
    assert align([first, first], Reading()).ids is None


@pytest.mark.parametrize("kind", [np.asarray, pd.DataFrame, scipy.sparse.csr_array])
def test_missing_samples_are_rows_of_nan(kind):
    reading = Reading()
    found = align([table("a", "abc", kind), table("b", "dba", kind)], reading, "allow")
    assert reading.notes == [
        "Missing samples: 2 of 4 ids are not in every file: a.csv has no d; b.csv has no c."
    ]
    assert [column(view) for view in found.views.values()] == [
        ["a", "b", "c", None],
        ["a", "b", None, "d"],
    ]
    assert list(found.ids) == list("abcd")


def test_without_ids_row_counts_must_be_equal():
    assert align([without_ids("a", 3), without_ids("b", 3)], Reading()).ids is None
    with pytest.raises(InputError, match=r"a\.npy has 3, b\.npy has 4 rows; give --id COLUMN"):
        align([without_ids("a", 3), without_ids("b", 4)], Reading())


def test_files_with_and_without_ids():
    reading = Reading()
    found = align([without_ids("a", 3), table("b", "abc"), table("c", "abc")], reading)
    assert list(found.ids) == list("abc")
    assert reading.notes == [
        "a.npy: without ids; the rows are assumed to be in the order of b.csv."
    ]
    with pytest.raises(
        InputError, match=r"a\.npy has no ids, and b\.csv and c\.csv do not have the same ids"
    ):
        align([without_ids("a", 3), table("b", "abc"), table("c", "cba")], Reading())
    with pytest.raises(InputError, match=r"a\.npy has 2"):
        align([without_ids("a", 2), table("b", "abc")], Reading())


def test_view_names_are_made_unique():
    assert list(align([without_ids("a", 3), without_ids("a", 3)], Reading()).views) == [
        "a 1",
        "a 2",
    ]
    assert list(
        align(
            [without_ids("a", 3), without_ids("a", 3), without_ids("a 1", 3)],
            Reading(),
        ).views
    ) == [
        "a 2",
        "a 3",
        "a 1",
    ]


def test_rows_in_order_are_not_copied():
    first = table("a", "abc")
    assert align([first, table("b", "abc")], Reading()).tables[0].values is first.values
