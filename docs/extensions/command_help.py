"""The directive `command-help`: what a command of `s2s-ad` says of itself."""

import argparse
import os
from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx.application import Sphinx

from s2s_ad.cli.commands import parser

COLUMNS = "84"


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.add_directive("command-help", CommandHelp)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def help_of(command: str) -> str:
    """What `s2s-ad COMMAND --help` prints; what all commands say alike is left to the page."""
    os.environ["COLUMNS"] = COLUMNS
    (commands,) = (e for e in parser()._actions if isinstance(e, argparse._SubParsersAction))
    found = commands.choices[command]
    return found.format_help().removesuffix(found.epilog or "").rstrip()


class CommandHelp(Directive):
    """The help of the command that is named."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """The text as it stands in a terminal."""
        text = help_of(self.arguments[0])
        return [nodes.literal_block(text, text, language="text")]
