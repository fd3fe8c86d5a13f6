"""The lab's secrets: made at random, kept in files that only their reader may read, told to no one else."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping
from pathlib import Path


def new_token() -> str:
    """A token that a server asks for before it changes anything."""
    return secrets.token_hex(24)


def write_properties(file: Path, values: Mapping[str, str]) -> Path:
    """Writes a properties file (0600), whole or not at all; returns it."""
    draft = file.with_suffix(".draft")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as handle:
        handle.writelines(f"{name}={_escaped(value)}\n" for name, value in values.items())
    draft.replace(file)
    return file


def _escaped(value: str) -> str:
    """A value as a properties file spells it: everything but plain characters as \\uXXXX."""
    units = value.encode("utf-16-be")
    codes = [units[i] << 8 | units[i + 1] for i in range(0, len(units), 2)]
    return "".join(chr(c) if 0x21 <= c <= 0x7E and c != 0x5C else f"\\u{c:04x}" for c in codes)
