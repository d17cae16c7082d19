"""Recognise the samples that a model was fitted to, which keep their label."""

from dataclasses import dataclass

import numpy as np

from viewspan._utils.typing import AnyArray
from viewspan.inputs.fingerprints import digest_array
from viewspan.inputs.views import Views

NOT_FOUND = -1
"""Position of a sample that the model was not fitted to."""


@dataclass(frozen=True)
class KnownSamples:
    """Digests of samples and their positions. Equal samples have the position of the first.

    Attributes
    ----------
    digests : array (n,) of uint64
        In ascending order.
    positions : array (n,) of int
    """

    digests: AnyArray
    positions: AnyArray

    @classmethod
    def none(cls) -> "KnownSamples":
        """Return a collection without samples."""
        return cls(np.empty(0, dtype=np.uint64), np.empty(0, dtype=np.int64))

    @classmethod
    def of(cls, views: Views) -> "KnownSamples":
        """Remember the samples of views."""
        return cls(*np.unique(digest_array(views), return_index=True))

    @property
    def n_distinct(self) -> int:
        """Number of distinct samples."""
        return len(self.digests)

    def find(self, views: Views) -> AnyArray:
        """Return the positions of samples, NOT_FOUND for those that are unknown."""
        if len(self.digests) == 0:
            return np.full(views.n_samples, NOT_FOUND)
        wanted = digest_array(views)
        places = np.searchsorted(self.digests, wanted).clip(max=len(self.digests) - 1)
        return np.where(self.digests[places] == wanted, self.positions[places], NOT_FOUND)
