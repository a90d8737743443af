"""Who is sent into the contest."""

from pathlib import Path

import pytest

from benchmarks.peers import __main__ as contest


def test_a_peer_without_an_environment_is_skipped_and_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "pfl" / "bin").mkdir(parents=True)
    (tmp_path / "pfl" / "bin" / "python").touch()
    monkeypatch.setattr(contest, "ENVIRONMENTS", tmp_path)
    assert list(contest.commands("generic", ["pfl", "flower"])) == ["hfedms_sim", "plain loop", "pfl"]
    assert "flower: skipped" in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [["--engine", "warp"], ["--peers", "nobody"], ["--rounds", "0"]])
def test_what_cannot_be_is_refused_in_a_line(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as refused:
        contest.main(arguments)
    assert refused.value.code == 2
    assert f"argument {arguments[0]}: invalid" in capsys.readouterr().err
