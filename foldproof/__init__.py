"""foldproof: views of an agent's history, made right and checkable."""

__version__ = "0.1.0"
