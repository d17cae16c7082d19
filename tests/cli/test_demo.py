import numpy as np
from scipy import ndimage

from viewspan.datasets import load_digits_views
from viewspan.datasets import observed_digits as demo


def test_digits_are_seen_in_three_ways():
    views, labels = load_digits_views()
    assert list(views) == ["pixels", "laplacian", "sobel"]
    assert {view.shape for view in views.values()} == {(1797, 64)}
    assert set(labels) == set(range(10))
    pictures = {name: view[0].reshape(8, 8) for name, view in views.items()}
    expected = ndimage.gaussian_laplace(pictures["pixels"], 0.5)
    np.testing.assert_allclose(pictures["laplacian"], expected)
    assert (pictures["sobel"] >= 0).all()


def test_the_demo_sees_more_than_any_view_trusts_noise_least_and_says_what_is_certified(capsys):
    demo.main()
    lines = capsys.readouterr().out.splitlines()
    accuracies = [
        float(line.split("accuracy")[1].split("%")[0]) for line in lines if "accuracy" in line
    ]
    assert accuracies[-1] > max(accuracies[:-1]) + 10
    weights = [float(line.split("counts")[1].split(",")[0]) for line in lines if "counts" in line]
    assert weights[2] < 0.5 * min(weights[:2])
    assert any("proven to be within" in line for line in lines)
