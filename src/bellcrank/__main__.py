"""`python -m bellcrank`: runs the command-line program even where its script is not installed."""

from bellcrank.cli.main import main

if __name__ == "__main__":
    main()
