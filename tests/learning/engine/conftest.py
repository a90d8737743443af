"""Which kernels are tested: every variant this processor runs, built in place or in KERNELS_UNDER_TEST."""

import os
from pathlib import Path

import pytest

from hfedms_sim.system import native_library

UNDER_TEST = Path(os.environ.get("KERNELS_UNDER_TEST", native_library.DIRECTORY)).resolve()


@pytest.fixture(params=native_library.runnable(UNDER_TEST) or ("none",))
def variant(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """One of the variants, forced."""
    if request.param == "none":
        assert "KERNELS_UNDER_TEST" not in os.environ, f"no kernels in {UNDER_TEST}"
        pytest.skip("no compiled kernels here")
    monkeypatch.setattr(native_library, "DIRECTORY", UNDER_TEST)
    monkeypatch.setenv(native_library.SETTING, request.param)
    assert native_library.variant() == request.param
    return str(request.param)
