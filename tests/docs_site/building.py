"""How the site is built in tests."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


def built(source: Path, target: Path) -> subprocess.CompletedProcess[str]:
    """What Sphinx says, with the project's own settings and every warning an error."""
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-c", str(ROOT / "docs")]
    return subprocess.run(
        [*command, str(source), str(target)], capture_output=True, text=True, check=False, timeout=500
    )
