"""The order of the gallery: first what most people come for."""

FIRST = ("quick_start", "tables", "prediction", "image_segmentation", "subspaces", "view_scores")


class FirstThingsFirst:
    """Those that are named, as they are named; then the others by name."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __call__(self, file: str) -> tuple[int, str]:
        name = file.removesuffix(".py")
        return (FIRST.index(name) if name in FIRST else len(FIRST), name)
