"""Screenshots to look at: ``python tests/explorer/screenshots.py PAGE.html DIR [FRAGMENT]``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from browser import browser, page_of

LOOKS: dict[str, dict[str, Any]] = {
    "light": {"color_scheme": "light"},
    "dark": {"color_scheme": "dark"},
    "phone": {"viewport": {"width": 375, "height": 812}, "device_scale_factor": 2, "is_mobile": True},
}


def main(path: Path, directory: Path, fragment: str = "") -> None:
    directory.mkdir(parents=True, exist_ok=True)
    with browser() as chromium:
        for name, options in LOOKS.items():
            with page_of(chromium, path, fragment, **options) as (page, seen):
                target = directory / f"{path.stem}-{name}.png"
                page.screenshot(path=target, full_page=True)
                print(target, *seen.errors)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), *sys.argv[3:4])
