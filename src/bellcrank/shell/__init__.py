"""The command language: bodies, links, forces and time by commands typed, of a script, or of another program.

It has the commands of P. Schröder, The Virtual Erector Set (1990), section 6.6, and words for bellcrank's
additions. `commands.COMMANDS` is the one table of them, from which the parser, the help, the completion and
the page of the guide are generated. Each command is a call of the public API.
"""
