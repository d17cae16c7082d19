"""Samples that were clustered are recognised when they come again, and keep their label."""

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np

from viewspan._utils.typing import AnyArray
from viewspan.inputs.views import Views, fingerprints

NOWHERE = -1
"""The position of a sample that is not known."""


@dataclass(frozen=True)
class Known:
    """Short fingerprints of samples, and where they are found; of equal samples, the first.

    Attributes
    ----------
    digests : array (n,) of uint64
        In ascending order. Two different ones among 10⁴ samples would be equal by chance once in 10¹¹ times.
    positions : array (n,) of int
    """

    digests: AnyArray
    positions: AnyArray

    @classmethod
    def nobody(cls) -> "Known":
        return cls(np.empty(0, dtype=np.uint64), np.empty(0, dtype=np.int64))

    @classmethod
    def samples(cls, views: Views) -> "Known":
        return cls(*np.unique(digests_of(views), return_index=True))

    def find(self, views: Views) -> AnyArray:
        """Where samples are found, NOWHERE for those that are not."""
        if len(self.digests) == 0:
            return np.full(views.n_samples, NOWHERE)
        digests = digests_of(views)
        places = np.searchsorted(self.digests, digests).clip(max=len(self.digests) - 1)
        return np.where(self.digests[places] == digests, self.positions[places], NOWHERE)


def digests_of(views: Views) -> AnyArray:
    """One number for every sample, the same for equal ones."""
    parts: Iterator[bytes] = (blake2b(one, digest_size=8).digest() for one in fingerprints(views))
    return np.frombuffer(b"".join(parts), dtype="<u8").astype(np.uint64)
