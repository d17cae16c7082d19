"""Strict rank one and a growing τ
===============================

The paper couples the views by the nuclear norm of the matrix A, whose rows are the coefficients Z_i
of the views, with weight τ. It leaves open what the strict constraint rank(A) = 1 would give. This
example compares both on the paper's synthetic data.

A larger τ brings the Z_i closer to multiples of one matrix: the second singular value of A falls.
It also shrinks them, so that the objective without τ rises. ``coupling="rank_one"`` has no such
shrinkage.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

import viewspan
from viewspan.datasets import make_subspaces

views, labels = make_subspaces(noise=0.1, random_state=0)
views = [view / np.linalg.norm(view, axis=1, keepdims=True) for view in views]
automatic = viewspan.CLRSC(5, random_state=0).fit(views)
lam = automatic.lam_

# %%
# Two numbers describe a solution: the objective without τ, and the ratio of the second to the first
# singular value of A, which is 0 for rank one.


def strict_objective(result):
    """Return the paper's objective (obj1): Σ ‖X_i − X_i Z_i‖_F² + λ_i ‖Z_i‖_*."""
    parts = zip(views, lam, result.coefficients, strict=True)
    return sum(
        np.linalg.norm(x.T - x.T @ z) ** 2 + weight * np.linalg.norm(z, "nuc")
        for x, weight, z in parts
    )


def singular_value_ratio(result):
    """Return σ₂ / σ₁ of A."""
    values = np.linalg.svd(np.array([z.ravel() for z in result.coefficients]), compute_uv=False)
    return values[1] / values[0]


# %%
# The problem with the nuclear norm is solved for twelve values of τ, the strict one once.

multiples = np.geomspace(0.5, 22, 12)
relaxed = [viewspan.solve(views, lam, multiple * automatic.tau_) for multiple in multiples]
strict = viewspan.solve(views, lam, coupling="rank_one")
print(
    f"rank one: objective {strict.objective:.1f}, scales {strict.scales.round(3)}, {strict.status}"
)

# %%
# The picture shows both numbers over τ. With the nuclear norm, σ₂ / σ₁ reaches 0 only where the
# objective is nearly twice that of the strict solution.

figure, (above, below) = plt.subplots(2, 1, sharex=True, figsize=(6, 5), layout="constrained")
ratios = [singular_value_ratio(result) for result in relaxed]
above.plot(multiples, ratios, "o-", color="C0", label="nuclear norm")
above.axhline(0, color="C1", label="strict rank one")
above.set(ylabel="σ₂ / σ₁ of A", ylim=(-0.05, None))
above.legend(frameon=False)
below.plot(multiples, [strict_objective(result) for result in relaxed], "o-", color="C0")
below.axhline(strict.objective, color="C1")
below.set(
    xscale="log",
    xlabel="τ, as a multiple of the automatic one",
    ylabel="objective without τ (obj1)",
)
below.set_xticks([0.5, 1, 2, 5, 10, 20], ["½", "1", "2", "5", "10", "20"])
for panel in (above, below):
    panel.spines[["top", "right"]].set_visible(False)
if len(sys.argv) > 1:
    figure.savefig(sys.argv[1], dpi=120)
else:
    plt.show()
