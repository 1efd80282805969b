"""``python -m foldproof``: the command line."""

from foldproof.cli.main import main

main()
