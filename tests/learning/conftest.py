"""Tests of a learning rule run on every engine that knows it."""

from collections.abc import Iterator

import pytest

from hfedms_sim.learning.engine import ENGINES
from hfedms_sim.system import native_library
from tests.learning.tiny_factory import ENGINE


@pytest.fixture(params=ENGINES)
def every_engine(request: pytest.FixtureRequest) -> Iterator[str]:
    if request.param == "native" and not native_library.available():
        pytest.skip("no compiled kernels")
    token = ENGINE.set(request.param)
    yield request.param
    ENGINE.reset(token)
