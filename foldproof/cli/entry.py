"""Where the installed command begins: an interrupt while the rest is being imported is one line, too."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line."""
    try:
        from foldproof.cli.main import main as run  # noqa: PLC0415 - the import is what may be interrupted

        run()
    except KeyboardInterrupt:
        sys.stderr.write("foldproof: interrupted\n")
        sys.exit(3)
