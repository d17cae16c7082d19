"""Exit codes of the ``viewspan`` command.

A command that is stopped by a signal exits with 128 plus the number of the signal instead, see
:func:`viewspan._utils.signals.exit_code`.
"""

FAILED = 1
"""The command failed for a reason other than its inputs, such as a full disk."""

INVALID_INPUT = 2
"""An input file or an option cannot be used. Typer uses the same code for wrong usage."""

PIPE_CLOSED = 141
"""The program that reads the output, such as ``head``, has closed the pipe."""
