"""What a user constructs: one class per method, with scikit-learn's interface."""

from viewspan.estimators.clrsc import CLRSC
from viewspan.estimators.lrr import LRR
from viewspan.estimators.mlap import MLAP
from viewspan.estimators.ssc import SSC

__all__ = ["CLRSC", "LRR", "MLAP", "SSC"]
