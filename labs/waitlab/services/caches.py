"""The AOT caches of an app: one for its usual code, one for each setting that makes it run other code."""

from __future__ import annotations

from waitlab.controls import Settings, Value
from waitlab.services.apps import AppSpec

_USUAL = "app.aot"


def caches(spec: AppSpec) -> dict[str, dict[str, Value]]:
    """The app's AOT caches by file name, each with the settings it is made with."""
    return {_USUAL: {}, **{s.cache: {s.control.name: True} for s in spec.settings if s.cache}}


def cache_for(spec: AppSpec, settings: Settings) -> str:
    """The file name of the AOT cache that serves these settings."""
    return next((s.cache for s in spec.settings if s.cache and settings.get(s.control.name)), _USUAL)
