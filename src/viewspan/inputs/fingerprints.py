"""Fingerprints of samples, to find duplicates and samples that were seen before."""

from collections.abc import Iterator
from hashlib import blake2b

import numpy as np

from viewspan._utils.sparse import is_sparse
from viewspan._utils.typing import AnyArray, Block
from viewspan.inputs.views import Views

DIGEST_BYTES = 8
"""Bytes of a digest: two of 10⁴ different samples have the same one by chance once in 10¹¹ times."""


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


def row_bytes(array: Block, position: int) -> bytes:
    """Return places and values of the entries that are not zero, the same for dense and sparse rows."""
    if is_sparse(array):
        entries = slice(array.indptr[position], array.indptr[position + 1])
        places, values = array.indices[entries], array.data[entries]
        places, values = places[values != 0], values[values != 0]
    else:
        places = np.flatnonzero(array[position])
        values = array[position][places]
    return bytes(places.astype(np.int64).tobytes() + values.tobytes())
