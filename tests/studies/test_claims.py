"""The paper's claims on a few trials, also where they do not hold; docs/reproduction.md has them on fifty.

"As published" is the authors' weights, and their algorithm stopped by their rule.
"""

import pytest

from viewspan.studies import Study, run, summarise
from viewspan.studies.claims import check_claims, claims_markdown
from viewspan.studies.paper import AUTHORS, NAMES, authors_methods, optimum_methods, paper_studies

TRIALS = 6
NEEDED = {"LRR view 1", "LRR view 2", "LRR late", "MLAP", "cLRSC"}
NOISY = {"synthetic": (0.1, 0.2, 0.3), "minerals": (0.1, 0.2, 0.3), "faces": (0.1, 0.15)}
"""Where not every method is right: without noise all are."""


def mean(table, study, method, noise, column="mean", setting="authors"):
    row = table[
        (table["study"] == study)
        & (table["method"] == method)
        & (table["noise"] == noise)
        & (table["setting"] == setting)
    ]
    return float(row[column].iloc[0])


@pytest.fixture(scope="module")
def table(data_file, tmp_path_factory):
    folder = data_file("minerals/TIRlib.mat").parents[1]
    data_file("faces/yaleB01_P00A-005E-10.pgm")
    studies = []
    for study in paper_studies():
        weights = AUTHORS[study.name]
        methods = [
            m for m in authors_methods(weights) + optimum_methods(weights) if m.name in NEEDED
        ]
        noise = NOISY["faces"] if study.name == "faces" else study.noise
        studies.append(Study(study.name, study.generate, noise, methods))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VIEWSPAN_DATA", str(folder))
        return summarise(run(studies, tmp_path_factory.mktemp("claims"), trials=TRIALS))


CELLS = [(study, noise) for study in NAMES for noise in NOISY[study]]


def holds(table, number, study, noise, setting="authors"):
    checked = check_claims(table)
    row = checked[
        (checked["claim"] == number)
        & (checked["study"] == study)
        & (checked["noise"] == noise)
        & (checked["setting"] == setting)
    ]
    return bool(row["holds"].iloc[0])


@pytest.mark.parametrize(("study", "noise"), CELLS)
def test_clrsc_is_best(table, study, noise):
    assert holds(table, 1, study, noise)


def test_mlap_is_second_on_synthetic_data_but_not_everywhere(table):
    """The paper has it everywhere. On noisy minerals, and on faces under the strongest noise, LRR is before MLAP."""
    assert holds(table, 2, "synthetic", 0.2)
    assert not holds(table, 2, "minerals", 0.1)
    assert not holds(table, 2, "minerals", 0.2)
    assert not holds(table, 2, "faces", 0.15)


def test_the_worst_trial_at_the_papers_psnr_of_32(table):
    """The paper: at least 94 with cLRSC, down to 40 with MLAP. How far down MLAP goes takes more trials to see."""
    assert mean(table, "synthetic", "cLRSC", 0.2, "psnr_ln") == pytest.approx(32.2, abs=0.1)
    assert mean(table, "synthetic", "cLRSC", 0.2, "min") >= 94
    assert mean(table, "synthetic", "MLAP", 0.2, "min") <= 60


@pytest.mark.parametrize("noise", [0.0, 0.1, 0.2, 0.3])
@pytest.mark.parametrize("study", ["synthetic", "minerals"])
def test_coefficients_are_closer_under_clrsc(table, study, noise):
    assert holds(table, 4, study, noise)


def test_in_proportion_to_their_size_they_are_closer_in_some_studies_only(table):
    """What the paper does not ask: smaller matrices are closer without agreeing more."""
    for study, noise in (
        ("synthetic", 0.2),
        ("synthetic", 0.3),
        ("minerals", 0.0),
        ("minerals", 0.1),
    ):
        assert holds(table, 5, study, noise)
    for study, noise in (("synthetic", 0.0), ("synthetic", 0.1), ("faces", 0.1), ("faces", 0.15)):
        assert not holds(table, 5, study, noise)


def test_mlap_is_farther_apart_than_lrr_on_faces_but_not_elsewhere(table):
    """The paper says it is in most cases of minerals, where its script compared LRR's first appearance with itself."""
    for study, noise in CELLS:
        if (study, noise) != ("minerals", 0.1):  # equal within 3 %
            assert holds(table, 6, study, noise) == (study == "faces")


def test_mlap_owes_its_accuracy_to_stopping_early(table):
    """At the optimum of the authors' weights every sample rebuilds only itself; 200 iterations do not get there."""
    for study in ("synthetic", "minerals"):
        assert mean(table, study, "MLAP", 0.1) > 60
        assert mean(table, study, "MLAP", 0.1, setting="optimum") < 40
        assert mean(table, study, "MLAP", 0.1, "coefficient_difference", setting="optimum") < 0.01


def test_clrsc_is_where_the_authors_stopped(table):
    """Their algorithm ends near the optimum, so nothing hangs on it."""
    for study, noise in CELLS:
        gap = mean(table, study, "cLRSC", noise) - mean(
            table, study, "cLRSC", noise, setting="optimum"
        )
        assert abs(gap) < 5


def test_the_page_of_claims_says_yes_and_no(table):
    text = claims_markdown(table)
    assert text.count("\n## ") == 6
    assert ", yes |" in text
    assert ", **no**" in text
