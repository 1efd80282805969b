"""Every miniature by the name that starts it; the wrong ones have one fault each."""

from __future__ import annotations

import breakers
import folds
import lined
from miniature import Miniature

FAULTS: dict[str, type[Miniature]] = {
    "none": Miniature,
    "noise-first": Miniature,
    "exits-at-once": Miniature,
    "says-nothing": Miniature,
    "keeps-a-child": Miniature,
    "lined": lined.Lined,
    **{
        "".join("-" + c.lower() if c.isupper() else c for c in kind.__name__).strip("-"): kind
        for kind in [*vars(folds).values(), *vars(lined).values(), *vars(breakers).values()]
        if isinstance(kind, type) and issubclass(kind, Miniature)
        if kind not in (Miniature, breakers.Raw, lined.Lined)
    },
}
"""Every miniature by name."""
