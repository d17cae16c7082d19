"""What ``verbose`` shows: one line per look at the solver, through the standard logging module."""

import logging

from viewspan.solvers.result import Callback, Check

logger = logging.getLogger("viewspan")


def reporter(verbose: bool | int) -> Callback | None:
    """A callback that logs; None when quiet. Without a logging set-up of the user's, lines go to standard error."""
    if not verbose:
        return None
    if not logger.hasHandlers():
        logger.addHandler(logging.StreamHandler())
    if logger.getEffectiveLevel() > logging.INFO:
        logger.setLevel(logging.INFO)
    return log_check


def log_check(check: Check) -> None:
    logger.info(
        "iteration %4d  objective %.6e  certified gap %.1e  directions %d",
        check.n_iter,
        check.objective,
        check.gap,
        check.n_directions,
    )
