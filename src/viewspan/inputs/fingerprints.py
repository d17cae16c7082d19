"""Fingerprints of samples, to find duplicates and samples that were seen before."""

from collections.abc import Iterator
from hashlib import blake2b

import numpy as np

from viewspan._utils.sparse import is_sparse
from viewspan._utils.typing import AnyArray, Block
from viewspan.inputs.views import Views

DIGEST_BYTES = 8
"""Bytes of a digest. Two of 10⁴ different samples have equal digests with probability 3·10⁻¹²."""


def count_distinct(views: Views, limit: int) -> int:
    """Count the distinct samples, up to ``limit``."""
    seen: set[bytes] = set()
    for digest in digests(views):
        seen.add(digest)
        if len(seen) == limit:
            break
    return len(seen)


def digest_array(views: Views) -> AnyArray:
    """Return one uint64 per sample, equal for equal samples."""
    return np.frombuffer(b"".join(digests(views)), dtype="<u8").astype(np.uint64)


def digests(views: Views) -> Iterator[bytes]:
    """Yield a short hash of every sample over all views."""
    for position in range(views.n_samples):
        content = b"|".join(row_bytes(array, position) for array in views.arrays)
        yield blake2b(content, digest_size=DIGEST_BYTES).digest()


def row_bytes(array: Block, row: int) -> bytes:
    """Return positions and values of the nonzero entries, equal for dense and sparse rows."""
    if is_sparse(array):
        entries = slice(array.indptr[row], array.indptr[row + 1])
        positions, values = array.indices[entries], array.data[entries]
        positions, values = positions[values != 0], values[values != 0]
    else:
        positions = np.flatnonzero(array[row])
        values = array[row][positions]
    return bytes(positions.astype(np.int64).tobytes() + values.tobytes())
