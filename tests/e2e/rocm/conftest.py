"""The machine with the card."""

import pytest

from tests.e2e.foreign import Foreign
from tests.e2e.rocm.machine import with_card


@pytest.fixture
def rocm(repository: Foreign) -> Foreign:
    """Nothing was run in it yet."""
    return with_card(repository)
