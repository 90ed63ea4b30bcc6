"""The version of the package; the library must have the same."""

__version__ = "0.1.0"
