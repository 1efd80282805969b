"""What a host needs is at hand under one name, and costs nothing until it is asked for."""

from __future__ import annotations

import subprocess
import sys

import pytest

import foldproof.reference as package


def test_every_public_name_is_there_and_documented() -> None:
    for name in package.__all__:
        value = getattr(package, name)
        assert value.__name__ == name
        assert value.__doc__
    listed = {name for names in package._MODULES.values() for name in names}
    assert sorted(listed) == sorted(package.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'Sesion'"):
        package.Sesion  # type: ignore[attr-defined]  # noqa: B018


def test_the_package_loads_nothing_until_it_is_asked() -> None:
    program = (
        "import sys, foldproof.reference; before = set(sys.modules)\n"
        "assert 'pydantic' not in before and 'foldproof.reference.session' not in before\n"
        "from foldproof.reference import Session\n"
        "assert Session.__module__ == 'foldproof.reference.session'\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
