"""The mark of tests that make network namespaces."""

import pytest

from thalweg import _native

_refused = _native.emulation_permitted()

needs_namespaces = pytest.mark.skipif(_refused is not None, reason=str(_refused))
