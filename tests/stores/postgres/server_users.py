"""The system users of embedded servers."""

from __future__ import annotations

import os
import pwd

import pytest

NOBODY = pwd.getpwnam("nobody").pw_uid
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root hands the server to another user")
