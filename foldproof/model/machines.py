"""The machines by name: the core kernel, and each extension that reuses its types."""

from __future__ import annotations

from typing import Any

from foldproof.model.asynchronous import ASYNC
from foldproof.model.budget import BUDGET
from foldproof.model.core import CORE
from foldproof.model.machine import Machine
from foldproof.model.memories import MEMORIES
from foldproof.model.passes import PASS

MACHINES: dict[str, Machine[Any, Any]] = {
    machine.name: machine for machine in (CORE, BUDGET, PASS, ASYNC, MEMORIES)
}
"""Every machine, under the name that ``--machine`` takes."""
