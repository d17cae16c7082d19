"""Order of the examples in the gallery, and what their warnings do."""

import warnings

FIRST_EXAMPLES = (
    "quick_start",
    "tables",
    "prediction",
    "image_segmentation",
    "subspaces",
    "view_scores",
)


class BasicExamplesFirst:
    """Sort key of an example: the examples above in their order, then the others by name."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __call__(self, file: str) -> tuple[int, str]:
        name = file.removesuffix(".py")
        if name in FIRST_EXAMPLES:
            return FIRST_EXAMPLES.index(name), name
        return len(FIRST_EXAMPLES), name


def raise_on_warnings(*_: object) -> None:
    """Make the build fail if an example warns. Deprecations of libraries are left out."""
    for category in (UserWarning, RuntimeWarning, FutureWarning):
        warnings.simplefilter("error", category)
