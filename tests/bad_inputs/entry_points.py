"""All functions and methods that accept views."""

import pytest

import viewspan

ESTIMATORS = [viewspan.CLRSC, viewspan.LRR, viewspan.SSC, viewspan.MLAP]
ENTRY_POINTS = {
    **{
        build.__name__: lambda views, build=build: build(2, random_state=0).fit(views)
        for build in ESTIMATORS
    },
    "CLRSC with landmarks": lambda views: viewspan.CLRSC(
        2, graph="landmarks", n_landmarks=20, random_state=0
    ).fit(views),
    "CLRSC in batches": lambda views: (
        viewspan.CLRSC(2, random_state=0).partial_fit(views).partial_fit()
    ),
    "CLRSC with missing samples": lambda views: viewspan.CLRSC(
        2, missing="allow", random_state=0
    ).fit(views),
    "robust CLRSC": lambda views: viewspan.CLRSC(2, datafit="l12", random_state=0).fit(views),
    "path": lambda views: viewspan.path(views, 2, lam=[0.1], tau=[0.1], random_state=0),
    "solve": lambda views: viewspan.solve(views, lam=0.1, tau=0.1),
}
every_entry_point = pytest.mark.parametrize("call", ENTRY_POINTS.values(), ids=ENTRY_POINTS.keys())
every_estimator = pytest.mark.parametrize("build", ESTIMATORS, ids=lambda build: build.__name__)
