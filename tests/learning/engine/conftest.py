"""Which kernels are tested: every variant this processor runs, built in place or in KERNELS_UNDER_TEST."""

import os
from pathlib import Path

import pytest

from hfedms_sim.system import compiled

UNDER_TEST = Path(os.environ.get("KERNELS_UNDER_TEST", compiled.DIRECTORY)).resolve()


@pytest.fixture(params=compiled.runnable(UNDER_TEST) or ("none",))
def variant(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """One of the variants, forced."""
    if request.param == "none":
        assert "KERNELS_UNDER_TEST" not in os.environ, f"no kernels in {UNDER_TEST}"
        pytest.skip("no compiled kernels here")
    monkeypatch.setattr(compiled, "DIRECTORY", UNDER_TEST)
    monkeypatch.setenv(compiled.SETTING, request.param)
    assert compiled.variant() == request.param
    return str(request.param)
