"""The order of the gallery: pictures that draw the eye first."""

GALLERY = (
    "bridge",
    "soft_body",
    "heat_control",
    "lens",
    "rnn",
    "lennard_jones",
    "pendulum",
    "gaussian_process",
    "kalman",
    "digits",
    "option_greeks",
    "td0",
    "private_sgd",
)


class PageOrder:
    """A key for sorting the files of a folder: pages of the gallery as above, others by name."""

    def __init__(self, folder: str):
        self.folder = folder

    def __call__(self, file: str) -> tuple[int, str]:
        name = file.removesuffix(".py")
        return GALLERY.index(name) if name in GALLERY else len(GALLERY), name
