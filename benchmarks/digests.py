"""Compare results with those of an earlier commit, to show that a refactoring changed nothing.

    python benchmarks/digests.py HEAD~3

Every case is one fit: the defaults on each shared set that takes at most a minute, and the
estimators and options on small synthetic data. A digest holds hashes of the fitted and predicted
labels, the objective, certified gap, λ, τ, numbers of clusters and of iterations, and sums over the
graph, confidence, eigenvalues, view weights and view scores. Equal hashes and equal printed digits
mean equal results. The last bits depend on the machine and its BLAS, so both commits run here.
"""

import hashlib
import io
import json
import multiprocessing
import os
import subprocess
import sys
import tarfile
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy is loaded
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

TIME_LIMIT = 60
"""Time limit in seconds of a case with the earlier code; the present code gets five times that."""
ROOT = Path(__file__).parents[1]
DATA = Path(os.environ.get("VIEWSPAN_DATA", ROOT.parent / "shared" / "data")) / "multiview"


def shared_set(name: str) -> tuple[list[np.ndarray], int]:
    """Return views and number of clusters of one shared set."""
    with np.load(DATA / f"{name}.npz") as file:
        n_views = sum(key.startswith("view_") for key in file)
        return [file[f"view_{i}"] for i in range(n_views)], len(np.unique(file["labels"]))


def make_synthetic(n_per_cluster: int = 30, noise: float = 0.05) -> tuple[list[np.ndarray], int]:
    """Return four subspaces of dimension three in three views, and the number of clusters."""
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
    """Return the digest of a fitted model."""
    lam = np.asarray(model.lam_, dtype=float).ravel()
    graph = model.affinity_matrix_
    return {
        "labels": label_hash(model.labels_),
        "predicted": label_hash(model.predict(unseen)),
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


def label_hash(labels: Any) -> str:
    """Return a short hash of labels."""
    return hashlib.sha256(np.asarray(labels).astype("<i8").tobytes()).hexdigest()[:16]


def fit_shared(name: str) -> dict[str, Any]:
    """Fit the defaults to one shared set."""
    from viewspan import CLRSC

    views, n_clusters = shared_set(name)
    model = CLRSC(n_clusters, random_state=0).fit(views)
    return digest(model, [view[:50] for view in views])


def fit_synthetic(name: str) -> dict[str, Any]:
    """Fit one part of the family to made data."""
    import viewspan

    views, k = make_synthetic()
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
    if name == "partial settled":
        model = viewspan.CLRSC(k, random_state=0)
        for start in range(3):
            model.partial_fit([view[start::3] for view in views])
        model.predict(views)
        return digest(model, views)
    if "missing" in name:
        views = with_missing(views)
    return digest(estimators[name]().fit(views), [view[:50] for view in views])


SYNTHETIC_CASES = [
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
    """Put the digest of one case into the queue; runs in a child process."""
    warnings.simplefilter("ignore")
    try:
        results.put(function(name))
    except Exception as error:
        results.put({"error": f"{type(error).__name__}: {error}"})


def run_with_timeout(
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
    """Return the digests of the named cases, or of all cases, that finish in time."""
    cases = {f"made: {name}": (fit_synthetic, name) for name in SYNTHETIC_CASES}
    cases |= {
        f"shared: {path.stem}": (fit_shared, path.stem) for path in sorted(DATA.glob("*.npz"))
    }
    found = {}
    for case in names or cases:
        result = run_with_timeout(5 * TIME_LIMIT if names else TIME_LIMIT, *cases[case])
        shown = "out of time" if result is None else result.get("error", result.get("labels"))
        print(f"{case:35s} {shown}", flush=True)
        if result is not None:
            found[case] = result
    return found


def compare(earlier: dict[str, Any]) -> int:
    """Print which results differ from earlier ones, and return how many do."""
    found = digests(list(earlier))
    n_different = 0
    for case, before in earlier.items():
        after = found.get(case, {})
        fields = [field for field in before if before[field] != after.get(field)]
        n_different += bool(fields)
        for field in fields:
            print(f"{case}: {field} was {before[field]}, is {after.get(field)}")
    print(f"{len(earlier) - n_different} of {len(earlier)} cases are equal in every digit")
    return n_different


def digests_of_commit(commit: str) -> dict[str, Any]:
    """Return the digests of the package as it was in a commit."""
    with tempfile.TemporaryDirectory() as folder:
        archive = subprocess.run(
            ["git", "archive", commit, "src"], cwd=ROOT, check=True, capture_output=True
        ).stdout
        with tarfile.open(fileobj=io.BytesIO(archive)) as files:
            files.extractall(folder, filter="data")
        stored = Path(folder) / "digests.json"
        # the path comes before that of the installed package
        environment = os.environ | {"PYTHONPATH": str(Path(folder) / "src")}
        subprocess.run([sys.executable, __file__, "--store", stored], env=environment, check=True)
        found: dict[str, Any] = json.loads(stored.read_text())
    return found


if __name__ == "__main__":
    if sys.argv[1] == "--store":
        Path(sys.argv[2]).write_text(json.dumps(digests()))
    else:
        sys.exit(compare(digests_of_commit(sys.argv[1])) > 0)
