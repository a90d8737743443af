"""Replace this process by a command whose files may have so many bytes: `python -m soak.limited BYTES COMMAND...`.

A disk that is full, for whoever may not mount a small one: a write beyond the limit fails with "File too large". Python
ignores the signal that comes with it, and so does what it becomes.
"""

import os
import resource
import sys

if __name__ == "__main__":
    most_bytes, *command = sys.argv[1:]
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(most_bytes), int(most_bytes)))
    os.execv(command[0], command)
