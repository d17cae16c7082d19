"""Every method and every road through it, on two planes that all of them tell apart."""

from viewspan import CLRSC, LRR, MLAP, SSC

ASKED = {"n_clusters": 2, "random_state": 0}
LANDMARKS = {"graph": "landmarks", "n_landmarks": 20}
MODELS = {
    "CLRSC": CLRSC(**ASKED),
    "LRR": LRR(**ASKED),
    "SSC": SSC(**ASKED),
    "MLAP": MLAP(**ASKED),
    "CLRSC by coefficients": CLRSC(affinity="coefficients", **ASKED),
    "CLRSC of given weights": CLRSC(lam=0.2, tau=1.0, **ASKED),
    "CLRSC by landmarks": CLRSC(**LANDMARKS, **ASKED),
    "CLRSC by landmarks and coefficients": CLRSC(affinity="coefficients", **LANDMARKS, **ASKED),
    "CLRSC with absent samples": CLRSC(missing="allow", **ASKED),
    "CLRSC robust to samples": CLRSC(datafit="l12", **ASKED),
    "CLRSC robust to entries": CLRSC(datafit="l1", **ASKED),
    "CLRSC of rank one": CLRSC(coupling="rank_one", **ASKED),
    "CLRSC sparse": CLRSC(penalty="l1", **ASKED),
    "CLRSC by ladmpsap": CLRSC(solver="ladmpsap", **ASKED),
    "LRR robust": LRR(datafit="l12", **ASKED),
    "LRR of one table": LRR(fusion="concat", **ASKED),
    "LRR by ladmap": LRR(solver="ladmap", **ASKED),
    "LRR by landmarks": LRR(**LANDMARKS, **ASKED),
    "SSC of one table": SSC(fusion="concat", **ASKED),
}
"""By what they are."""
