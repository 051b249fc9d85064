"""`python -m bellcrank`: the program, also where no script of that name was installed."""

from bellcrank.cli.main import main

if __name__ == "__main__":
    main()
