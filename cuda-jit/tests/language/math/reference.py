"""Correctly rounded values of the functions on f64, by mpmath with 400 bits.

Prints a line for each argument: the function, the bits of its arguments, the bits of the nearest f64, and how far the
exact value lies from that in units of its last place.
"""
import random
import struct

import mpmath as m
from mpmath import mpf

m.mp.prec = 1400
random.seed(1)


def bits(x):
    return "%016x" % struct.unpack("<Q", struct.pack("<d", x))[0]


def ulp(x):
    return m.ldexp(1, max(m.frexp(abs(x))[1] - 53, -1074))


def logarithmic(low, high):
    return random.choice([-1, 1]) * m.mpf(2) ** random.uniform(low, high)


def arguments(kind):
    for _ in range(60):
        if kind == "any":
            yield (float(logarithmic(-40, 30)),)
        elif kind == "angle":
            yield (float(logarithmic(-20, random.choice([3, 20, 40, 1023]))),)
        elif kind == "unit":
            yield (float(random.choice([random.uniform(-1, 1), logarithmic(-30, 0)])),)
        elif kind == "positive":
            yield (float(abs(random.choice([logarithmic(-1020, 1020), 1 + logarithmic(-40, -2), logarithmic(-3, 3)]))),)
        elif kind == "exponent":
            yield (float(random.choice([logarithmic(-20, 9.4), random.uniform(-2, 2)])),)
        elif kind == "one":
            yield (float(1 + abs(logarithmic(-40, 40))),)
        elif kind == "plus":
            yield (float(random.choice([random.uniform(-0.999, 3), logarithmic(-60, -1), abs(logarithmic(-1, 1000))])),)
        elif kind == "pair":
            yield (float(logarithmic(-50, 50)), float(logarithmic(-50, 50)))
        elif kind == "power":
            x = float(abs(random.choice([logarithmic(-900, 900), 1 + logarithmic(-30, -2), logarithmic(-3, 3)])))
            yield (x, float(random.uniform(-700, 700) / m.log(x)))


FUNCTIONS = [
    ("sin", m.sin, "angle"), ("cos", m.cos, "angle"), ("tan", m.tan, "angle"),
    ("asin", m.asin, "unit"), ("acos", m.acos, "unit"), ("atan", m.atan, "any"), ("atan2", m.atan2, "pair"),
    ("sinh", m.sinh, "exponent"), ("cosh", m.cosh, "exponent"), ("tanh", m.tanh, "exponent"),
    ("asinh", m.asinh, "any"), ("acosh", m.acosh, "one"), ("atanh", m.atanh, "unit"),
    ("exp", m.exp, "exponent"), ("exp2", lambda x: mpf(2) ** x, "exponent"), ("exp_m1", m.expm1, "exponent"),
    ("ln", m.log, "positive"), ("log2", lambda x: m.log(x, 2), "positive"), ("log10", m.log10, "positive"),
    ("ln_1p", m.log1p, "plus"), ("powf", m.power, "power"), ("cbrt", lambda x: m.sign(x) * m.cbrt(abs(x)), "any"),
    ("hypot", m.hypot, "pair"),
]

for name, function, kind in FUNCTIONS:
    for given in arguments(kind):
        exact = function(*map(mpf, given))
        nearest = float(exact)
        print(name, " ".join(map(bits, given)), bits(nearest), "%+.4f" % float((exact - mpf(nearest)) / ulp(exact)))
