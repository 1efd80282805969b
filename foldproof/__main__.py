"""``python -m foldproof``: the command line."""

from foldproof.cli.entry import main

main()
