"""Functions for arrays that may be dense or sparse."""

import numpy as np
import pytest
import scipy.sparse

from viewspan._utils.sparse import (
    divide_columns,
    divide_rows,
    full,
    has_valid_structure,
    stack_features,
    stack_samples,
)

DENSE = np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]])
SPARSE = scipy.sparse.csr_array(DENSE)


@pytest.mark.parametrize(("stack", "expected"), [(stack_features, (2, 6)), (stack_samples, (4, 3))])
def test_a_stack_is_sparse_if_any_block_is(stack, expected):
    for blocks, sparse in (([DENSE, DENSE], False), ([DENSE, SPARSE], True)):
        found = stack(blocks)
        assert scipy.sparse.issparse(found) == sparse
        assert found.shape == expected
        np.testing.assert_array_equal(full(found)[-2:, -3:], DENSE)


def test_full_arrays_are_float64():
    for array in (DENSE.astype(np.float32), SPARSE.astype(np.float32), [[1, 0, 2], [0, 3, 0]]):
        assert full(array).dtype == np.float64
        np.testing.assert_array_equal(full(array), DENSE)


def test_division_by_zero_gives_zero():
    rows = divide_rows(SPARSE, np.array([[2.0], [0.0]]))
    np.testing.assert_array_equal(rows.toarray(), [[0.5, 0.0, 1.0], [0.0, 0.0, 0.0]])
    columns = divide_columns(SPARSE, np.array([2.0, 3.0, 0.0]))
    np.testing.assert_array_equal(columns.toarray(), [[0.5, 0.0, 0.0], [0.0, 1.0, 0.0]])


@pytest.mark.parametrize(
    ("starts", "places", "stored", "valid"),
    [
        ([0, 2, 3], [0, 2, 1], 3, True),
        ([0, 0, 0], [], 0, True),
        ([0, 2], [0, 2, 1], 3, False),  # one line is missing
        ([1, 2, 3], [0, 2, 1], 3, False),  # does not start at 0
        ([0, 3, 2], [0, 2, 1], 3, False),  # descends
        ([0, 2, 4], [0, 2, 1], 4, False),  # more than there are indices
        ([0, 2, 3], [0, 2, 1], 2, False),  # more than there are values
        ([0, 2, 3], [0, 3, 1], 3, False),  # an index beyond the last column
        ([0, 2, 3], [0, -1, 1], 3, False),
    ],
)
def test_pointers_and_indices_must_lie_inside(starts, places, stored, valid):
    found = has_valid_structure(np.array(starts), np.array(places, dtype=int), stored, (2, 3))
    assert found == valid
