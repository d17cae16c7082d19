"""``viewspan demo``: cluster the handwritten digits of scikit-learn."""

from pathlib import Path
from typing import Annotated

from viewspan._utils.signals import immediate_exit
from viewspan.cli import options
from viewspan.cli.folder import check_output_folder
from viewspan.cli.terminal import exit_on_error


def demo(
    out: Annotated[
        Path | None, options.out_path("FOLDER", "Output folder for data files and results.")
    ] = None,
    force: options.Force = False,
) -> None:
    """Cluster 1797 handwritten digits in three views: left halves, right halves and noise.

    Without `--out`, the accuracy of every view and of all views together is printed. With `--out`,
    the digits are written as CSV files and clustered as by `viewspan cluster`.

    - `viewspan demo --out results` writes results/report.html, which a browser can open.
    """
    with exit_on_error("demo"):
        if out is not None:
            check_output_folder(out, force=force)
        with immediate_exit():
            from viewspan.cli import digits  # here, because it needs scikit-learn
        if out is None:
            digits.print_accuracies()
        else:
            digits.write_demo(out, force=force)
