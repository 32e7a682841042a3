"""Fourier transforms: real functions of them, and the transforms themselves."""

from rules.properties import case, number, real

LIKE = {"general": False}  # complex numbers: their types have to be known

#: with complex results: checked as functions of real and of complex numbers
TRANSFORMS = [
    case(f"np.fft.{name}(x{options})", x=real(*shape))
    for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
    for options, shape in [
        ("", (5,)),
        ("", (6,)),
        ("", (2, 4)),
        (", norm='ortho'", (5,)),
        (", norm='forward'", (4,)),
        (", norm='backward'", (4,)),
        (", axis=0", (4, 3)),
        (", axis=-2", (4, 3)),
        (", n=3", (6,)),
        (", n=4", (2, 6)),
        (", n=9", (6,)),
        (", 8, 0, 'ortho'", (5, 2)),
        (", n=2", (1,)),
        (", n=len(x) + 1", (5,)),
    ]
]
TRANSFORMS += [
    case(f"np.fft.{name}(x{options})", x=real(*shape))
    for name in ("fft2", "ifft2", "rfft2", "irfft2", "fftn", "ifftn", "rfftn", "irfftn")
    for options, shape in [
        ("", (3, 4)),
        ("", (4, 3)),
        (", norm='ortho'", (2, 3, 4)),
        (", axes=(0, 1), norm='forward'", (3, 4, 2)),
        (", axes=(1, 0)", (3, 4)),
        (", s=(4, 3), axes=(-2, -1)", (3, 4)),
        (", s=(2, 6), axes=(0, -1)", (3, 2, 4)),
        (", s=(-1, 5), axes=(0, 1)", (3, 4)),
        (", axes=(0,)", (3, 2)),
    ]
]
TRANSFORMS += [
    case("np.fft.fftshift(x)", x=real(2, 5)),
    case("np.fft.fftshift(x, axes=0)", x=real(3, 4)),
    case("np.fft.ifftshift(x)", x=real(5)),
    case("np.fft.ifftshift(x, axes=(-1,))", x=real(3, 4)),
    case("np.fft.fft(np.fft.fftshift(x))", x=real(5)),
    case("np.fft.irfft(np.fft.rfft(x) * h, len(x))", x=real(6), h=real(4)),
    case("np.fft.ifft(np.fft.fft(x) * np.fft.fft(y, len(x)))", x=real(6), y=real(3)),
    case("np.fft.fft(x * (1.0 + np.fft.fftfreq(5, 0.5)))", x=real(5)),
]

FOURIER = [
    case("np.abs(np.fft.fft(x)) ** 2", x=real(5), **LIKE),
    case("np.abs(np.fft.rfft(x)) ** 2", x=real(6), **LIKE),
    case("np.abs(np.fft.rfft(x, n=4, axis=0)) ** 2", x=real(5, 2), **LIKE),
    case("np.fft.irfft(x + 1j * y)", x=real(4), y=real(4), **LIKE),
    case("np.fft.hfft(x + 1j * y, n=5)", x=real(4), y=real(4), **LIKE),
    case("np.fft.irfft(np.fft.rfft(x) * np.fft.rfft(y, 6), 6)", x=real(6), y=real(3), **LIKE),
    case("np.fft.ifft(x).real + np.fft.ihfft(x, 9).imag", x=real(5), **LIKE),
    case("np.abs(np.fft.fft2(x)) + np.abs(np.fft.ifft2(x, norm='ortho'))", x=real(3, 4), **LIKE),
    case("np.abs(np.fft.rfft2(x))", x=real(3, 4), **LIKE),
    case("np.abs(np.fft.fftn(x)) ** 2 + np.fft.ifftn(x).real", x=real(2, 3, 2), **LIKE),
    case("np.abs(np.fft.rfftn(x, axes=(0, 1))) ** 2", x=real(2, 3, 2), **LIKE),
    case("np.fft.irfft2(x + 1j * y)", x=real(3, 4), y=real(3, 4), **LIKE),
    case("np.fft.irfftn(x + 1j * y, s=(3, 5), axes=(0, 1))", x=real(3, 4), y=real(3, 4), **LIKE),
    case("np.fft.fftshift(x) * x", x=real(5)),
    case("np.fft.ifftshift(x, axes=1)", x=real(2, 5)),
    case("np.fft.fftfreq(5) * x + np.fft.fftfreq(5, d=0.5)", x=real(5)),
    case("np.fft.rfftfreq(5, 0.5) * x", x=real(3)),
    case("np.fft.rfftfreq(5, d) * x", x=real(3), d=number(), **LIKE),
]
