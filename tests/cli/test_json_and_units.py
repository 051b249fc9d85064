"""Results as JSON, and durations with units."""

import json

import pytest

import bellcrank as bc
from bellcrank.cli.main import Commands, bellcrank


def test_a_run_is_summed_up_as_json(four_bar, program):
    told = json.loads(program("run", four_bar, "-d", "200 ms", "-s", "2 ms", "-o", "run.h5", "--json").stdout)
    assert (told["mechanism"], told["status"], told["end"]) == ("four-bar", "finished", 0.2)
    assert told["statistics"]["steps"] == 100
    assert told["written"] == ["run.h5"]
    found = json.loads(program("info", "run.h5", "--json").stdout)
    assert found["frames"] == told["frames"]
    assert found["bodies"] == ["crank", "coupler", "rocker"]
    drawn = json.loads(program("plot", "run.h5", "-w", "energy", "-o", "energy.png", "--json").stdout)
    assert drawn["written"] == ["energy.png"]


def test_info_as_json_is_that_of_the_library(four_bar, program):
    found, library = json.loads(program("info", four_bar, "--json").stdout), bc.info(bc.load(four_bar))
    for name in ("freedom", "rows", "loops"):
        assert found[name] == getattr(library, name)
    assert found["redundant"] == list(library.redundant)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("2 m", "this unit does not fit here"),
        ("long", "must be a number"),
        ("2 parsec", "this unit is not known"),
    ],
)
def test_durations_that_are_none_are_refused(four_bar, program, text, rule):
    result = program("run", four_bar, "--duration", text)
    assert result.exit_code == 2
    assert rule in " ".join(result.stderr.split())


def test_a_letter_means_one_option():
    meanings = {}
    commands = Commands.list_commands(bellcrank, None)
    for name in (name for name in commands if name != "bench"):
        for option in bellcrank.get_command(None, name).params:
            letters = [text for text in option.opts if len(text) == 2 and text.startswith("-")]
            words = [text for text in option.opts if text.startswith("--")]
            for letter in letters:
                meanings.setdefault(letter, set()).add(words[0])
    assert {letter: words for letter, words in meanings.items() if len(words) > 1} == {}
    assert meanings["-o"] == {"--out"}
