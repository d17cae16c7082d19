"""The bundled digits as two observers and a broken sensor see them."""

import time

import numpy as np
from sklearn.datasets import load_digits

from viewspan import CLRSC
from viewspan._utils.typing import Array, Labels
from viewspan.metrics import subspace_clustering_accuracy


def observed_digits() -> tuple[dict[str, Array], Labels]:
    """The left and the right half of every digit, and a sensor that is broken."""
    digits = load_digits()
    halves = {"left": digits.images[:, :, :4], "right": digits.images[:, :, 4:]}
    views = {name: half.reshape(len(half), -1) for name, half in halves.items()}
    views["broken"] = np.random.default_rng(0).uniform(0, 16, size=(len(digits.target), 4))
    return views, digits.target


def main() -> None:
    """Cluster, and print the accuracy and what was certified."""
    views, truth = observed_digits()
    print(
        f"{len(truth)} handwritten digits, {len(views)} views: left halves, right halves, noise\n"
    )
    print("Each view alone:")
    for name, view in views.items():
        alone = CLRSC(n_clusters=10, random_state=0).fit_predict(view)
        print(f"  {name:<7} accuracy {subspace_clustering_accuracy(truth, alone):5.1f} %")
    start = time.perf_counter()
    model = CLRSC(n_clusters=10, random_state=0).fit(views)
    seconds = time.perf_counter() - start
    accuracy = subspace_clustering_accuracy(truth, model.labels_)
    print(f"All together:\n          accuracy {accuracy:5.1f} %, {seconds:.1f} s")
    print("\nChosen from the data:")
    for name, weight, lam in zip(views, model.view_weights_, model.lam_, strict=True):
        print(f"  {name:<7} counts {weight:.2f}, lam = {lam:.3g}")
    print(f"  tau = {model.tau_:.3g}")
    print(
        f"Objective {model.objective_:.6g} after {model.n_iter_} iterations, proven to be within",
        end=" ",
    )
    print(f"{100 * model.dual_gap_:.4f} % of the optimum")


if __name__ == "__main__":
    main()
