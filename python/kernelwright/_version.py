"""The package's version; the library must be of the same."""

__version__ = "0.1.0"
