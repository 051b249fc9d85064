"""One test over many seeds; a failure names its seed."""

import functools
import inspect


def over(seeds):
    """Decorates a test with an argument `seed`: it is called with each of the seeds in turn."""

    def looped(test):
        @functools.wraps(test)
        def judged(**given):
            for seed in seeds:
                try:
                    test(seed=seed, **given)
                except BaseException as error:
                    error.add_note(f"seed {seed}")
                    raise

        given = inspect.signature(test)
        rest = [one for name, one in given.parameters.items() if name != "seed"]
        judged.__signature__ = given.replace(parameters=rest)
        return judged

    return looped
