"""One model for every method, datafit, coupling, graph and solver, for tests of faults."""

from viewspan import CLRSC, LRR, MLAP, SSC

COMMON = {"n_clusters": 2, "random_state": 0}
LANDMARKS = {"graph": "landmarks", "n_landmarks": 20}
MODELS = {
    "CLRSC": CLRSC(**COMMON),
    "LRR": LRR(**COMMON),
    "SSC": SSC(**COMMON),
    "MLAP": MLAP(**COMMON),
    "CLRSC by coefficients": CLRSC(affinity="coefficients", **COMMON),
    "CLRSC of given weights": CLRSC(lam=0.2, tau=1.0, **COMMON),
    "CLRSC by landmarks": CLRSC(**LANDMARKS, **COMMON),
    "CLRSC by landmarks and coefficients": CLRSC(affinity="coefficients", **LANDMARKS, **COMMON),
    "CLRSC with missing samples": CLRSC(missing="allow", **COMMON),
    "CLRSC robust to samples": CLRSC(datafit="l12", **COMMON),
    "CLRSC robust to entries": CLRSC(datafit="l1", **COMMON),
    "CLRSC of rank one": CLRSC(coupling="rank_one", **COMMON),
    "CLRSC sparse": CLRSC(penalty="l1", **COMMON),
    "CLRSC by ladmpsap": CLRSC(solver="ladmpsap", **COMMON),
    "LRR robust": LRR(datafit="l12", **COMMON),
    "LRR of one table": LRR(fusion="concat", **COMMON),
    "LRR by ladmap": LRR(solver="ladmap", **COMMON),
    "LRR by landmarks": LRR(**LANDMARKS, **COMMON),
    "SSC of one table": SSC(fusion="concat", **COMMON),
}
"""Unfitted models by description. All of them separate two planes."""
