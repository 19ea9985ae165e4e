"""The releases of an engine that are known, and which of them a deployment means."""

from __future__ import annotations

from catalogue import library
from catalogue.engines.engine import load_releases
from catalogue.entries.hardware import Device
from catalogue.entries.profiles import Profile, in_order
from catalogue.reading.errors import ParamsError

AT = "@"  # between an engine and its release
CANDIDATE = "rc"


def fitting(device: Device) -> list[str]:
    """Engines of the catalogue that reach a card: those that are written for its software."""
    return [name for name in library.names("profiles")
            if device.software in library.load("profiles", name).stacks]


def engine_meant(reference: str) -> tuple[Profile, str]:
    """The profile and the release that are meant by a name such as vllm or vllm@0.13.0.

    Raises ParamsError for an engine, or a release of it, that is not known.
    """
    name, _, written = (part.strip() for part in reference.partition(AT))
    if name not in library.names("profiles"):
        raise ParamsError(f"there is no engine '{name[:60]}', expected one of "
                          f"{', '.join(library.names('profiles'))}.")
    profile: Profile = library.load("profiles", name)
    return profile, release_of(profile, written or None)


def releases(profile: Profile) -> list[str]:
    """Every release of which a profile speaks, the oldest first."""
    known = set(profile.releases)
    if profile.flags is not None:
        known |= {release.version for release in load_releases(profile.flags)}
    first = in_order(profile.since) if profile.since else ()
    return sorted((version for version in known if in_order(version) >= first), key=in_order)


def release_of(profile: Profile, written: str | None, nearest: bool = False) -> str:
    """The release that is meant: itself, or the newest whose version begins so.

    A candidate of a release only where there is no other.

    Args:
        profile: of the engine.
        written: what names it; None for the newest.
        nearest: whether of a release before the newest that is not known the next older one stands
            for it, or the oldest.

    Raises ParamsError for a release that is not known.
    """
    every = releases(profile)
    meant = every if written is None else (
        [version for version in every if version == written]
        or [version for version in every if version.startswith((f"{written}.", f"{written}rc"))])
    if written is not None and not (written and meant):
        if nearest and (older := _next_older(every, written)) is not None:
            return older
        raise ParamsError(f"{profile.id} has no release '{written[:40]}', expected one of "
                          f"{', '.join(every)}.")
    return ([version for version in meant if CANDIDATE not in version] or meant)[-1]


def _next_older(every: list[str], written: str) -> str | None:
    """The newest release before one that is not known, else the oldest; None of a later one."""
    try:
        asked = in_order(written)
    except ValueError:
        return None
    if asked > in_order(every[-1]):
        return None
    return next((version for version in reversed(every) if in_order(version) < asked), every[0])
