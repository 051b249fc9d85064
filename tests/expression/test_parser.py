"""Texts to expressions: what they mean, and what is said about those that mean nothing."""

import math
import operator
import pickle
import random
import sys

import pytest

from bellcrank.errors import MechanismError
from bellcrank.expression.parser import DEPTH, FUNCTIONS, LENGTH, ExpressionError, parse, tokens
from bellcrank.expression.reading import TIME, read

OPERATIONS = {
    "negate": operator.neg, "add": operator.add, "subtract": operator.sub, "multiply": operator.mul,
    "divide": operator.truediv, "power": math.pow, "less": operator.lt, "less_equal": operator.le,
    "greater": operator.gt, "greater_equal": operator.ge, "equal": operator.eq,
    "and": lambda a, b: a and b, "or": lambda a, b: a or b, "not": operator.not_,
    "select": lambda condition, yes, no: yes if condition else no,
    "abs": abs, "min": min, "max": max, "sign": lambda a: math.copysign(1.0, a) if a else 0.0,
    **{name: getattr(math, name) for name in FUNCTIONS if hasattr(math, name) and name != "pow"},
}  # fmt: skip


class Numbers:
    """Builds values with Python's arithmetic."""

    def number(self, value):
        return value

    def apply(self, operation, operands):
        return OPERATIONS[operation](*operands)


class Trees:
    """Builds nested tuples."""

    def number(self, value):
        return value

    def apply(self, operation, operands):
        return (operation, *operands)


NAMES = {"t": 0.7, "length": 2.5, "θ": -0.3, "crank.x": 4.0}


def value(text):
    return parse(text, Numbers(), NAMES)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0.5*sin(2*pi*t)", 0.5 * math.sin(2 * math.pi * 0.7)),
        ("1e-3 + .5 + 2. + 3E+2", 302.501),
        ("2 - 3 - 4", -5.0),
        ("2/4/2*8", 2.0),
        ("-2^2", -4.0),
        ("2^-1", 0.5),
        ("2^3^2", 512.0),
        ("2**3", 8.0),
        ("-t*-t", 0.49),
        ("+3 - -3", 6.0),
        ("(1 + 2)*(3 - length)", 1.5),
        ("e^1", math.e),
        ("atan2(1, -1)", 3 * math.pi / 4),
        ("pow(2, 0.5)", 2**0.5),
        ("max(1, 5, 3) - min(4, 2)", 3.0),
        ("sign(-4) + floor(2.9) + abs(-1)", 2.0),
        ("if(t < 1, 10, 20)", 10.0),
        ("piecewise(t < 0.5, 1, t < 0.6, 2, t >= 0.7, 3, 4)", 3.0),
        ("if(0 < t <= 0.7 and not t > 1 or t == 8, 1, 0)", 1.0),
        ("if(not (t < 1), 1, 0)", 0.0),
        ("θ + crank.x", 3.7),
        ("  t\n * \t2 ", 1.4),
        ("log(exp(2)) + sqrt(4) + tanh(0) + cosh(0) + sinh(0)", 5.0),
        ("asin(1) + acos(1) + atan(0) + tan(0) + cos(0)", math.pi / 2 + 1),
    ],
)
def test_meaning(text, expected):
    assert value(text) == pytest.approx(expected, rel=1e-15)


def test_precedence_as_trees():
    names = dict.fromkeys("abcd")
    names.update({name: name for name in names})
    tree = lambda text: parse(text, Trees(), names)  # noqa: E731
    assert tree("a + b*c^d") == ("add", "a", ("multiply", "b", ("power", "c", "d")))
    assert tree("-a^b*c") == ("multiply", ("negate", ("power", "a", "b")), "c")
    assert tree("a - b + c") == ("add", ("subtract", "a", "b"), "c")
    assert tree("if(a < b or c < d and a < d, a, b)")[1] == (
        "or", ("less", "a", "b"), ("and", ("less", "c", "d"), ("less", "a", "d")),
    )  # fmt: skip
    assert tree("max(a, b, c)") == ("max", ("max", "a", "b"), "c")


@pytest.mark.parametrize(
    ("text", "position", "said"),
    [
        ("", 0, "the text is empty"),
        ("   ", 0, "the text is empty"),
        ("0.5*sin(2*pi*)", 13, "a value is expected after '*', got ')'"),
        ("0.5*sin(2*pi*t", 7, "this parenthesis is not closed"),
        ("sin(t))", 6, "this parenthesis was not opened"),
        ("2 t", 2, "an operator is missing between '2' and 't'; for a product write 2*t"),
        ("2(t)", 1, "an operator is missing between '2' and '('"),
        ("sin t", 0, "sin is a function; write sin(...)"),
        ("0.5*sni(t)", 4, "there is no function 'sni'; did you mean 'sin'"),
        ("2*lenght", 2, "the name 'lenght' is not known; did you mean 'length'?"),
        ("2*PI", 2, "the name 'PI' is not known; did you mean 'pi'"),
        ("zzz", 0, "the name 'zzz' is not known; known are t, length, θ, crank.x, pi, e"),
        ("atan2(t)", 0, "atan2 takes 2 operands, 1 given"),
        ("sin()", 0, "sin takes 1 operand, 0 given"),
        ("max(1)", 0, "max takes 2 or more operands, 1 given"),
        ("if(t, 1, 2)", 3, "a condition is needed here, not a number; such as t < 1"),
        ("if(t < 1, 2)", 0, "if takes 3 operands, 2 given; write if(condition, value, other)"),
        ("piecewise(t < 1, 1, t < 2, 3)", 0, "takes pairs of condition and value"),
        ("t < 1", 0, "this is a condition, not a number"),
        ("1 + (t < 1)", 2, "'+' needs numbers, not a condition"),
        ("sin(t < 1)", 4, "a number is needed here, not a condition"),
        ("if(t and t, 1, 2)", 5, "'and' takes conditions, not numbers"),
        ("3 ** ** 2", 5, "a value is expected after '**', got '**'; the operator is there twice"),
        ("t = 1", 2, "got '='; write '==' in a condition"),
        ("0,5*t", 1, "for decimals write a point"),
        ("t − 1", 2, "write '-'"),
        ("t²", 1, "write '^2'"),
        ("2*t @ 3", 4, "this character has no meaning"),
        ("[1, 2]", 0, "a vector is written as a list of expressions"),
        ("1e999", 0, "the number '1e999' is too large"),
        ("2 + 1/0", 5, "'/' has no value here"),
        ("exp(1e9)", 0, "'exp' has no value here"),
        ("3*log(-1)", 2, "'log' has no value here"),
        ("a and", 0, "the name 'a' is not known"),
        ("and", 0, "a value is expected, got 'and'"),
    ],
)
def test_messages_point_at_the_character(text, position, said):
    with pytest.raises(ExpressionError) as caught:
        value(text)
    error = caught.value
    assert said in str(error), str(error)
    assert error.position == position
    (fault,) = error.faults
    line, caret = fault.excerpt.split("\n")
    assert line == "".join(char if char.isprintable() else " " for char in text)
    assert caret == " " * position + "^"


def test_the_text_and_a_caret_are_printed_below_the_message():
    with pytest.raises(MechanismError) as caught:
        parse("0.5*sin(2*pi*)", Numbers(), NAMES, "drive 'motor'")
    assert str(caught.value) == (
        "drive 'motor': a value is expected after '*', got ')'\n    0.5*sin(2*pi*)\n                 ^"
    )


def test_of_a_long_text_the_part_at_fault_is_shown():
    with pytest.raises(ExpressionError) as caught:
        value("1 + " * 500 + "lenth" + " + 1" * 500)
    line, caret = caught.value.faults[0].excerpt.split("\n")
    assert len(line) < 100
    assert line[caret.index("^") :].startswith("lenth")


def test_errors_can_be_pickled():
    with pytest.raises(ExpressionError) as caught:
        value("2*lenght")
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.position) == (str(caught.value), 2)


def test_long_but_not_deep():
    count = LENGTH // 4 - 1
    assert value("1 + " * count + "1") == count + 1


@pytest.mark.parametrize(
    "text",
    ["(" * 100_000, "-" * 40_000 + "1", "2^" * 20_000 + "1", "sin(" * 10_000, "(" * 200 + "1" + ")" * 200,
     "if(" * 5_000, "not " * 10_000 + "t", "1-(" * 10_000],
)  # fmt: skip
def test_no_text_exhausts_the_stack(text):
    with pytest.raises(ExpressionError, match=r"nested more than|too long"):
        value(text)


def test_nesting_within_the_limit():
    depth = DEPTH - 2
    assert value("(" * depth + "t" + ")" * depth) == 0.7


def test_almost_no_stack_left():
    def down(frames):
        return down(frames - 1) if frames else value("(" * 70 + "t" + ")" * 70)

    with pytest.raises(ExpressionError, match="nested too deep to be read here"):
        down(sys.getrecursionlimit() - len(__import__("inspect").stack()) - 40)


PIECES = [
    *"+-*/^(),<>=[].;!&|#@ \n\t", "**", "<=", ">=", "==", "!=", "1", "0", "2.5", "1e9", "1e-300", "1e308",
    ".", "t", "pi", "e", "length", "θ", "crank.x", "unknown", "and", "or", "not", *FUNCTIONS, "sin(", "if(",
    "−", "²", "\x00",
    "😀", "\ud800", "__import__('os')", "lambda",
]  # fmt: skip
VALID = [
    "0.5*sin(2*pi*t)", "if(t < 1, t^2, 2*t - 1)", "piecewise(t < 1, 0, 1 <= t < 2, (t - 1)^3, 1)",
    "max(0, min(1, t/length))", "atan2(sin(t), cos(t))*exp(-t/3) + sqrt(abs(θ))", "-(-(-2))^2^-1",
]  # fmt: skip


def monster(rng):
    """Too deep, too long, too large, or all of it; often one character short of being right."""
    many = rng.choice((3, 30, 79, 80, 81, 81, 400)) if rng.random() < 0.95 else rng.choice((3000, 20_000))
    digits = "".join(rng.choice("0123456789") for _ in range(many))
    text = rng.choice((
        "(" * many + "t" + ")" * (many - rng.randrange(2)),
        "sin(" * many + "t" + ")" * many,
        "if(t < 1, " * many + "t" + ", 2)" * many,
        "-" * many + "t",
        "not " * many + "t < 1",
        "2^" * many + "t",
        "t + " * many + "1",
        "t, " * many,
        "t < " * many + "1",
        digits, "0." + digits, "1e" + digits[:400], "1e-" + digits[:400], digits[:400] + "e" + digits[:3],
        "x" * many, "length." * many + "x", "θ" * many, "_" * many + "(t)",
        "\x00" * many, "t\x00*2", "\u200bt", "t\u0301", "٣*t", "½*t", "e" * many + "1", "1_000*t",
        "0x10", "1__0",
    ))  # fmt: skip
    at = rng.randrange(len(text) + 1)
    return text if rng.random() < 0.5 else text[:at] + rng.choice(PIECES) + text[at:]


def strings(count):
    rng = random.Random(20)
    for number in range(count):
        kind = number % 5
        if kind == 0:
            yield bytes(rng.randrange(256) for _ in range(rng.randrange(40))).decode("latin-1")
        elif kind == 1:
            yield "".join(
                chr(rng.choice((rng.randrange(128), rng.randrange(0x110000))))
                for _ in range(rng.randrange(30))
            )
        elif kind == 2:
            yield "".join(rng.choice(PIECES) for _ in range(rng.randrange(25)))
        elif kind == 3:
            yield monster(rng)
        else:
            text = list(rng.choice(VALID))
            for _ in range(rng.randrange(3)):
                at = rng.randrange(len(text) + 1)
                text[at : at + rng.randrange(3)] = rng.choice(PIECES)
            yield "".join(text)


def test_nothing_but_its_own_error():
    outcomes = {"value": 0, "error": 0}
    for text in strings(10_000):
        try:
            assert isinstance(value(text), (float, int))
            outcomes["value"] += 1
        except ExpressionError as error:
            outcomes["error"] += 0 <= error.position <= len(text) and str(error) != ""
    assert sum(outcomes.values()) == 10_000
    assert outcomes["value"] > 200  # the strings are not all nonsense
    assert outcomes["error"] > 5000


def test_tokens_cover_the_text():
    text = "0.5*sin(2*pi*t) <= crank.x"
    assert "".join(token.text for token in tokens(text)) == text.replace(" ", "")


def test_the_graph_takes_the_same_texts_without_another_error():
    made = errors = 0
    for text in strings(10_000):
        try:
            read(text, dict.fromkeys(NAMES, TIME))
            made += 1
        except ExpressionError:
            errors += 1
    assert made + errors == 10_000
    assert made > 200
