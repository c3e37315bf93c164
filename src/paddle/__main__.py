"""The command `paddle`, also `python -m paddle`."""

from __future__ import annotations

import argparse
import sys


def main(arguments: list[str] | None = None) -> int:
    """Runs a subcommand.

    Args:
        arguments (list of str, optional): Default: those of the command line.

    Returns:
        int: the exit status.
    """
    from . import version

    parser = argparse.ArgumentParser(prog="paddle", description="OpenPaddle: deep learning in Python.")
    parser.add_argument("--version", action="version", version=f"OpenPaddle {version.full_version}")
    commands = parser.add_subparsers(dest="command", metavar="command")
    commands.add_parser("check", help="tell what this installation runs on, and whether it works")
    start = commands.add_parser(
        "quickstart", help="train a network on handwritten digits, save it, use it, draw a picture"
    )
    start.add_argument("--out", default="quickstart", metavar="DIR", help="folder for the results (quickstart)")
    start.add_argument("--epochs", type=_positive, default=5, metavar="N", help="passes over the training images (5)")
    start.add_argument("--seed", type=int, default=0, metavar="N", help="of weights and order (0)")
    given = parser.parse_args(arguments)
    if given.command is None:
        parser.print_help()
        return 0
    if given.command == "check":
        from .utils import run_check

        run_check()
        return 0
    from .quickstart.main import run

    run(given.out, given.epochs, given.seed)
    return 0


def _positive(text: str) -> int:
    n = int(text)
    if n < 1:
        raise argparse.ArgumentTypeError("at least 1")
    return n


if __name__ == "__main__":
    sys.exit(main())
