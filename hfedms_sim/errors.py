"""The two ways a command can end badly, each with its exit code. Neither ever shows a traceback."""


class InputError(Exception):
    """What the user gave cannot be used. One line: file, key, value, what is allowed. Exit code 2."""

    exit_code = 2


class RunError(Exception):
    """The input was good, but the run could not be completed (disk full, ...). Exit code 1."""

    exit_code = 1
