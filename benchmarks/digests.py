"""Compare results with a stored table of digests, to show that a refactoring changed nothing.

    python benchmarks/digests.py store FILE     # before the change
    python benchmarks/digests.py compare FILE   # after it

Every case is one fit: the defaults on each shared set that takes at most a minute, and one fit for
each part of the family on small made data. A digest holds a hash of the labels, the objective, the
certified gap, the weights λ and τ and the number of iterations. Equal hashes and equal printed
digits mean equal results. The last bits depend on BLAS, so store and compare on one machine.
"""

import hashlib
import json
import multiprocessing
import os
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy is loaded
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

SECONDS = 60
"""Time limit of a case when the table is stored; comparing waits five times as long."""
DATA = (
    Path(os.environ.get("VIEWSPAN_DATA", Path(__file__).parents[2] / "shared" / "data"))
    / "multiview"
)


def shared_set(name: str) -> tuple[list[np.ndarray], int]:
    """Return views and number of clusters of one shared set."""
    with np.load(DATA / f"{name}.npz") as file:
        n_views = sum(key.startswith("view_") for key in file)
        return [file[f"view_{i}"] for i in range(n_views)], len(np.unique(file["labels"]))


def made(n_per_cluster: int = 30, noise: float = 0.05) -> tuple[list[np.ndarray], int]:
    """Four subspaces of dimension three in three views."""
    rng = np.random.default_rng(7)
    views = []
    for width in (20, 35, 12):
        clean = np.vstack(
            [rng.normal(size=(n_per_cluster, 3)) @ rng.normal(size=(3, width)) for _ in range(4)]
        )
        views.append(clean + noise * rng.normal(size=clean.shape))
    return views, 4


def with_missing(views: list[np.ndarray]) -> list[np.ndarray]:
    """Return the views without every seventh sample of the first and every ninth of the second."""
    views = [view.copy() for view in views]
    views[0][::7] = np.nan
    views[1][3::9] = np.nan
    return views


def digest(model: Any, unseen: Any) -> dict[str, Any]:
    """Return what is compared of a fitted model."""
    lam = np.asarray(model.lam_, dtype=float).ravel()
    graph = model.affinity_matrix_
    return {
        "labels": text_hash(model.labels_),
        "predicted": text_hash(model.predict(unseen)),
        "objective": f"{model.objective_:.12e}",
        "gap": f"{model.dual_gap_:.6e}",
        "lam": f"{lam.sum():.12e}",
        "tau": f"{model.tau_:.12e}",
        "n_clusters": int(model.n_clusters_),
        "n_iter": int(model.n_iter_),
        "graph": f"{graph.sum():.10e}",
        "confidence": f"{np.mean(model.confidence_):.10e}",
        "eigenvalues": f"{np.sum(model.eigenvalues_):.10e}",
        "view_weights": [f"{weight:.10e}" for weight in model.view_weights_],
        "view_scores": [f"{score:.10e}" for score in model.view_scores_],
    }


def text_hash(labels: Any) -> str:
    """Return a short hash of labels."""
    return hashlib.sha256(np.asarray(labels).astype("<i8").tobytes()).hexdigest()[:16]


def fit_shared(name: str) -> dict[str, Any]:
    """Fit the defaults to one shared set."""
    from viewspan import CLRSC

    views, n_clusters = shared_set(name)
    model = CLRSC(n_clusters, random_state=0).fit(views)
    return digest(model, [view[:50] for view in views])


def fit_made(name: str) -> dict[str, Any]:
    """Fit one part of the family to made data."""
    import viewspan

    views, k = made()
    estimators: dict[str, Callable[[], Any]] = {
        "clrsc": lambda: viewspan.CLRSC(k, random_state=0),
        "clrsc k": lambda: viewspan.CLRSC(random_state=0),
        "clrsc scaled affine": lambda: viewspan.CLRSC(
            k, scale_features=True, affine=True, random_state=0
        ),
        "clrsc not normalised": lambda: viewspan.CLRSC(k, normalize=False, random_state=0),
        "clrsc given": lambda: viewspan.CLRSC(k, lam=0.2, tau=1.0, random_state=0),
        "clrsc given patterns": lambda: viewspan.CLRSC(
            k, lam=0.2, tau=1.0, affinity="patterns", random_state=0
        ),
        "clrsc lam per view": lambda: viewspan.CLRSC(k, lam=[0.1, 0.2, 0.3], random_state=0),
        "clrsc equal": lambda: viewspan.CLRSC(k, view_weights="equal", random_state=0),
        "clrsc weights": lambda: viewspan.CLRSC(k, view_weights=[1.0, 0.5, 0.2], random_state=0),
        "clrsc coefficients": lambda: viewspan.CLRSC(k, affinity="coefficients", random_state=0),
        "clrsc landmarks": lambda: viewspan.CLRSC(
            k, graph="landmarks", n_landmarks=60, random_state=0
        ),
        "clrsc landmarks k": lambda: viewspan.CLRSC(
            graph="landmarks", n_landmarks=60, random_state=0
        ),
        "clrsc landmarks given": lambda: viewspan.CLRSC(
            k, lam=0.2, tau=1.0, graph="landmarks", n_landmarks=60, random_state=0
        ),
        "clrsc rank one": lambda: viewspan.CLRSC(k, coupling="rank_one", random_state=0),
        "clrsc rank one weights": lambda: viewspan.CLRSC(
            k, coupling="rank_one", view_weights=[1.0, 0.5, 0.2], random_state=0
        ),
        "clrsc l12": lambda: viewspan.CLRSC(k, datafit="l12", random_state=0),
        "clrsc l1": lambda: viewspan.CLRSC(k, datafit="l1", random_state=0),
        "clrsc penalty l1": lambda: viewspan.CLRSC(k, penalty="l1", random_state=0),
        "clrsc ladmpsap": lambda: viewspan.CLRSC(
            k, lam=0.2, tau=8, solver="ladmpsap", random_state=0
        ),
        "clrsc kmeans": lambda: viewspan.CLRSC(k, assign_labels="kmeans", random_state=0),
        "clrsc qr": lambda: viewspan.CLRSC(k, assign_labels="cluster_qr", random_state=0),
        "clrsc missing": lambda: viewspan.CLRSC(k, missing="allow", random_state=0),
        "clrsc missing l1": lambda: viewspan.CLRSC(
            k, missing="allow", penalty="l1", random_state=0
        ),
        "lrr late": lambda: viewspan.LRR(k, random_state=0),
        "lrr concat": lambda: viewspan.LRR(k, fusion="concat", random_state=0),
        "lrr concat landmarks": lambda: viewspan.LRR(
            k, fusion="concat", graph="landmarks", n_landmarks=60, random_state=0
        ),
        "lrr l12": lambda: viewspan.LRR(k, datafit="l12", random_state=0),
        "lrr ladmap": lambda: viewspan.LRR(k, lam=0.2, solver="ladmap", random_state=0),
        "ssc": lambda: viewspan.SSC(k, random_state=0),
        "mlap": lambda: viewspan.MLAP(k, random_state=0),
    }
    if name.startswith("partial"):
        model = viewspan.CLRSC(k, random_state=0)
        for start in range(3):
            model.partial_fit([view[start::3] for view in views])
        if name == "partial settled":
            model.predict(views)
        return digest(model, views) if hasattr(model, "partial_fit") else {}
    if "missing" in name:
        views = with_missing(views)
    return digest(estimators[name]().fit(views), [view[:50] for view in views])


MADE = [
    *(
        "clrsc",
        "clrsc k",
        "clrsc scaled affine",
        "clrsc not normalised",
        "clrsc given",
        "clrsc given patterns",
    ),
    *(
        "clrsc lam per view",
        "clrsc equal",
        "clrsc weights",
        "clrsc coefficients",
        "clrsc landmarks",
    ),
    *(
        "clrsc landmarks k",
        "clrsc landmarks given",
        "clrsc rank one",
        "clrsc rank one weights",
        "clrsc l12",
        "clrsc l1",
    ),
    *(
        "clrsc penalty l1",
        "clrsc ladmpsap",
        "clrsc kmeans",
        "clrsc qr",
        "clrsc missing",
        "clrsc missing l1",
    ),
    *(
        "lrr late",
        "lrr concat",
        "lrr concat landmarks",
        "lrr l12",
        "lrr ladmap",
        "ssc",
        "mlap",
        "partial settled",
    ),
]


def run(function: Callable[[str], dict[str, Any]], name: str, results: Any) -> None:
    """Run one case in a process of its own."""
    warnings.simplefilter("ignore")
    try:
        results.put(function(name))
    except Exception as error:
        results.put({"error": f"{type(error).__name__}: {error}"})


def within(
    seconds: float, function: Callable[[str], dict[str, Any]], name: str
) -> dict[str, Any] | None:
    """Return a digest, or None if the case takes longer."""
    context = multiprocessing.get_context("spawn")
    results = context.Queue()
    process = context.Process(target=run, args=(function, name, results))
    process.start()
    try:
        return results.get(timeout=seconds)
    except Exception:
        return None
    finally:
        process.terminate()
        process.join()


def digests(names: list[str] | None = None) -> dict[str, Any]:
    """All cases that finish, or those that are named."""
    cases = {f"made: {name}": (fit_made, name) for name in MADE}
    cases |= {
        f"shared: {path.stem}": (fit_shared, path.stem) for path in sorted(DATA.glob("*.npz"))
    }
    found = {}
    for case in names or cases:
        result = within(5 * SECONDS if names else SECONDS, *cases[case])
        shown = "out of time" if result is None else result.get("error", result.get("labels"))
        print(f"{case:35s} {shown}", flush=True)
        if result is not None:
            found[case] = result
    return found


def compare(stored: dict[str, Any]) -> int:
    """Print which results differ from those stored, and return how many do."""
    found = digests(list(stored))
    n_different = 0
    for case, before in stored.items():
        after = found.get(case, {})
        fields = [field for field in before if before[field] != after.get(field)]
        n_different += bool(fields)
        for field in fields:
            print(f"{case}: {field} was {before[field]}, is {after.get(field)}")
    print(f"{len(stored) - n_different} of {len(stored)} cases are equal in every digit")
    return n_different


if __name__ == "__main__":
    action, file = sys.argv[1], Path(sys.argv[2])
    if action == "store":
        file.write_text(json.dumps(digests(), indent=1) + "\n")
    else:
        sys.exit(compare(json.loads(file.read_text())) > 0)
