"""The check of words finds what it looks for in prose, and nothing in code."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))

from check_words import hits, prose_of_module, prose_of_page


@pytest.mark.parametrize(
    "text",
    [
        "The crank is led by a motor.",
        "Two freedoms are left.",
        "It is told at the start.",
        "Positions are mended.",
        "Numbers parted by commas.",
        "Forces are recorded. Of that run.",
    ],
)
def test_words_are_found(text):
    assert list(hits(prose_of_page(text)))
    assert [hit for line, prose in prose_of_module(f'"""{text}"""') for hit in hits(prose, line)]


@pytest.mark.parametrize(
    "text",
    [
        "It has two degrees of freedom. Degrees of freedom: 2.",
        "Call `led_by`, or `told`.",
        "```python\nled = told\n```",
        "<!-- words: off -->led<!-- words: on -->",
    ],
)
def test_code_and_terms_are_left_alone(text):
    assert not list(hits(prose_of_page(text)))


def test_the_line_is_that_of_the_word():
    assert [line for line, _, _ in hits(prose_of_page("One line.\n\nIt is mended.\n"))] == [3]
