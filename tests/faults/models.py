"""One model for every method, datafit, coupling, graph and solver, for tests of faults."""

from viewspan import CLRSC, LRR, MLAP, SSC

COMMON = {"n_clusters": 2, "random_state": 0}
LOOSE = {"tol": 1e-2, **COMMON}
"""For slow fits whose optimum the tests do not look at."""
LANDMARKS = {"graph": "landmarks", "n_landmarks": 20}
MODELS = {
    "CLRSC": CLRSC(**COMMON),
    "LRR": LRR(**COMMON),
    "SSC": SSC(**COMMON),
    "MLAP": MLAP(**LOOSE),
    "CLRSC by coefficients": CLRSC(affinity="coefficients", **COMMON),
    "CLRSC of given weights": CLRSC(lam=0.2, tau=1.0, **COMMON),
    "CLRSC by landmarks": CLRSC(**LANDMARKS, **COMMON),
    "CLRSC by landmarks and coefficients": CLRSC(affinity="coefficients", **LANDMARKS, **COMMON),
    "CLRSC with missing samples": CLRSC(missing="allow", **COMMON),
    "CLRSC robust to samples": CLRSC(datafit="l12", **LOOSE),
    "CLRSC robust to entries": CLRSC(datafit="l1", **LOOSE),
    "CLRSC of rank one": CLRSC(coupling="rank_one", **COMMON),
    "CLRSC sparse": CLRSC(penalty="l1", **LOOSE),
    "CLRSC by ladmpsap": CLRSC(solver="ladmpsap", **LOOSE),
    "LRR robust": LRR(datafit="l12", **LOOSE),
    "LRR of one table": LRR(fusion="concat", **COMMON),
    "LRR by ladmap": LRR(solver="ladmap", **LOOSE),
    "LRR by landmarks": LRR(**LANDMARKS, **COMMON),
    "SSC of one table": SSC(fusion="concat", **LOOSE),
}
"""Unfitted models by description. All of them separate two planes."""
