"""Where one action takes place: a directory of its own, files around it that nobody may touch, and what must hold."""

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from soak.commands import Command, Ended, Surroundings, UnexpectedError
from soak.outcomes import Outcome, differences, fingerprints, leftovers
from soak.subjects import Subject, Whole, Wholes

_SENTINELS = {
    "notes.txt": "not ours\n",
    "runs/other/summary.json": "{}\n",
    "runs/.hidden.part": "somebody else's\n",
    "out.csv": "1,2\n",
}


@dataclass
class Scene:
    """An action's own directory, its random numbers, and the commands that it has started so far."""

    surroundings: Surroundings
    scenarios: Path
    wholes: Wholes
    random: Random
    said: list[str] = field(default_factory=list)
    """The commands, to be typed again by whoever looks into a failure."""
    _commands: list[Command] = field(default_factory=list)
    _around: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.surroundings.temporary.mkdir(parents=True)
        for name, text in _SENTINELS.items():
            path = self.surroundings.home / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        (self.surroundings.home / "link").symlink_to("notes.txt")
        self.remember()

    @property
    def disk(self) -> Path:
        """Return where another disk can be mounted; what is there belongs to the commands too."""
        return self.surroundings.home / "runs" / "disk"

    @property
    def out(self) -> Path:
        """Return the only path that commands may write to."""
        return (self.disk if self.disk.is_mount() else self.disk.parent) / "out"

    def remember(self) -> None:
        """Take what is around now for what must stay as it is."""
        self._around = self._fingerprints()

    def whole(self, subject: Subject) -> Whole:
        """Return what an uninterrupted command of the subject came to."""
        return self.wholes.of(subject)

    def start(self, command: Sequence[str], most_bytes: int | None = None) -> Command:
        started = Command(command, self.surroundings, most_bytes)
        self.said.append(started.text)
        self._commands.append(started)
        return started

    def begin(self, subject: Subject, most_bytes: int | None = None) -> Command:
        """Start the subject, or go on with it if its directory is there."""
        return self.start(subject.command(self.scenarios, self.out), most_bytes)

    def end(self, command: Command, *exit_codes: int, waits: bool = True) -> Ended:
        """Wait until a command has ended, in one of these ways, and unless told otherwise all that it has started."""
        ended = command.ended()
        if waits:
            command.require_gone()
        ended.require(*exit_codes)
        self._require_untouched(was_killed=ended.exit_code < 0)
        return ended

    def finish(self, subject: Subject) -> None:
        """Play what is left of the subject, without disturbing it, and refuse another outcome than the whole one's."""
        self.end(self.begin(subject), 0)
        self.require_finished(subject)

    def require_finished(self, subject: Subject) -> None:
        """Refuse another outcome than the whole one's, and temporary files."""
        self.require_same(subject.reading(self.out), self.whole(subject).outcome)
        self.require_clean(self.out)

    def require_same(self, is_now: Outcome, expected: Outcome) -> None:
        """Refuse an outcome that is not byte for byte the expected one."""
        if found := differences(is_now, expected):
            raise UnexpectedError(f"not the same as uninterrupted: {', '.join(found[:8])}")

    def require_clean(self, directory: Path) -> None:
        """Refuse temporary files in a directory that is finished."""
        if found := leftovers(directory):
            raise UnexpectedError(f"left over in {directory}: {', '.join(found[:8])}")

    def close(self) -> None:
        """Refuse processes that are left; none is when this returns."""
        try:
            for command in self._commands:
                command.require_gone()
        finally:
            for command in self._commands:
                command.remove()

    def _require_untouched(self, was_killed: bool) -> None:
        around = self._fingerprints()
        changed = sorted(
            name for name in around.keys() | self._around.keys() if around.get(name) != self._around.get(name)
        )
        if changed:
            raise UnexpectedError(f"changed outside of --out: {', '.join(changed[:8])}")
        left = sorted(path.name for path in self.surroundings.temporary.iterdir())
        if left and not was_killed:
            raise UnexpectedError(f"left in the directory of temporary files: {', '.join(left[:8])}")
        if left:
            shutil.rmtree(self.surroundings.temporary)
            self.surroundings.temporary.mkdir()

    def _fingerprints(self) -> dict[str, str]:
        return fingerprints(self.surroundings.home, but_for=self.disk if self.disk.exists() else self.out)


Action = Callable[[Scene], None]
