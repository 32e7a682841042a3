"""The command s2s-ad: what the compiler writes, keeps and gets right, for a function in a file."""

from s2s_ad.cli.commands import main

__all__ = ["main"]
