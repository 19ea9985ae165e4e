"""Releases of an engine: which of them a deployment means, and what replaces a setting.

``params/engines/successors/*.yml`` names the successors of settings where the source of the engine
itself does not.
"""

from __future__ import annotations

from catalogue import library
from catalogue.engines.engine import (
    ONE,
    Both,
    Engine,
    bare,
    load_engine,
    load_releases,
)
from catalogue.entries.entry import Entry
from catalogue.entries.hardware import Device
from catalogue.entries.profiles import Profile, in_order
from catalogue.library import parsed
from catalogue.reading import yamlfile
from catalogue.reading.errors import ParamsError
from catalogue.reading.files import ROOT
from catalogue.reading.values import SourceKey
from catalogue.reading.yamlfile import YamlFile

AT = "@"  # between an engine and its release
CANDIDATE = "rc"
TOOLS = "engines/tools"  # what measures an engine or stands before it: benches, routers


def fitting(device: Device) -> list[str]:
    """Engines of the catalogue that reach a card: those that are written for its software."""
    return [name for name in library.names("profiles")
            if device.software in library.load("profiles", name).stacks]


def has_profile(reference: str | None) -> bool:
    """Whether an engine such as vllm or vllm@0.13.0 is of the catalogue, or none is named."""
    return not reference or reference.partition(AT)[0].strip() in library.names("profiles")


def profile_of(name: str) -> Profile:
    """The profile of an engine. Raises ParamsError for one that is not known."""
    if name not in library.names("profiles"):
        raise ParamsError(f"there is no engine '{name[:60]}', expected one of "
                          f"{', '.join(library.names('profiles'))}.")
    profile: Profile = library.load("profiles", name)
    return profile


def engine_meant(reference: str) -> tuple[Profile, str]:
    """The profile and the release that stands for a name such as vllm or vllm@0.13.0.

    Raises ParamsError for an engine that is not known, or what is no release.
    """
    name, _, written = (part.strip() for part in reference.partition(AT))
    profile = profile_of(name)
    return profile, release_of(profile, written or None)


def releases(profile: Profile) -> list[str]:
    """Every release of which a profile speaks, the oldest first."""
    versions = set(profile.releases)
    if profile.flags is not None:
        versions |= {release.version for release in load_releases(profile.flags)}
    first = in_order(profile.since) if profile.since else ()
    return sorted((version for version in versions if in_order(version) >= first), key=in_order)


def release_of(profile: Profile, written: str | None) -> str:
    """The release that stands for the one that is written, of those that are known.

    Itself, or the newest whose version begins so, a candidate only where there is no other; for one
    that is not known the next older one, else the oldest.

    Args:
        profile: of the engine.
        written: what names it; None for the newest.

    Raises ParamsError for what is no release.
    """
    every = releases(profile)
    meant = every if written is None else _named(every, written)
    if meant:
        return ([version for version in meant if CANDIDATE not in version] or meant)[-1]
    try:
        order = in_order(str(written))
    except ValueError:
        raise ParamsError(f"{profile.id} has no release '{str(written)[:40]}', expected one of "
                          f"{', '.join(every)}.") from None
    return next((version for version in reversed(every) if in_order(version) < order), every[0])


def asked_release(profile: Profile, written: str | None) -> str:
    """The release that is asked for: a known one, or as it is written where it is not known.

    Arguments and errors as of :func:`release_of`.
    """
    if written is None or _named(releases(profile), written):
        return release_of(profile, written)
    release_of(profile, written)  # refuses what is no release
    return written


def releases_with(engine: str) -> dict[str, str | None] | None:
    """Classes of models -> the first release that has them; None if the first that was read does.

    >>> known = releases_with("vllm")
    >>> known["DeepseekV32ForCausalLM"], known["LlamaForCausalLM"]
    ('0.11.0', None)

    Args:
        engine: of ``params/profiles/``.

    Returns None for an engine of which nothing was read.
    """
    path = ROOT / "engines" / "models" / f"{engine}.yml"
    if not path.is_file():
        return None

    def read() -> dict[str, str | None]:
        since = yamlfile.read(path).data["model_classes"]["since"]
        first = next(iter(since))
        return {name: None if release == first else release
                for release, names in since.items() for name in names}

    return yamlfile.remembered("model classes", path, read)


def stated_release(reference: str) -> tuple[str, str]:
    """An engine with its release, as a text asks for it and as it is known.

    >>> stated_release("vllm@0.24.0")
    ('vllm@0.24.0', 'vllm@0.23.0')

    Raises ParamsError as :func:`engine_meant`.
    """
    name, _, written = (part.strip() for part in reference.partition(AT))
    profile, release = engine_meant(reference)
    return f"{name}{AT}{asked_release(profile, written or None)}", f"{name}{AT}{release}"


def _named(every: list[str], written: str) -> list[str]:
    """Releases that a text names: itself, or those whose version begins so."""
    if written in every:
        return [written]
    return [version for version in every if version.startswith((f"{written}.", f"{written}rc"))]


class Successor(Entry):
    """What takes the place of a setting.

    Attributes:
        use: names that do it now, none where nothing has to be set any more.
        note: why, in both languages.
        source: of ``params/sources/``.
    """

    use: tuple[str, ...]
    note: Both
    source: SourceKey


def successors(engine: str) -> dict[str, Successor]:
    """What takes the place of settings of an engine, by name; none where nothing is known.

    Raises ParamsError, one sentence with file and line, for a file that is not such a table.
    """
    path = ROOT / "engines" / "successors" / f"{engine}.yml"
    return yamlfile.remembered("successors", path, lambda: successors_of(
        yamlfile.read(path))) if path.is_file() else {}


def successors_of(file: YamlFile) -> dict[str, Successor]:
    """The table in a file. Raises ParamsError, one sentence with file and line."""
    return {name: parsed(Successor, file, name) for name in file.data}


def instead(engine: Engine, name: str) -> tuple[str, ...] | None:
    """Names that do what a setting did; () where nothing is to be set, None where unknown."""
    by_name = {_bare(other): successor for other, successor in successors(engine.name).items()}
    entry = engine.find(name)
    for spelt in (name, *((entry.name,) if entry else ())):
        if _bare(spelt) in by_name:
            return by_name[_bare(spelt)].use
    last = entry.at(entry.until) if entry and entry.until else None
    return (last.use,) if last and last.use else None


def _bare(name: str) -> str:
    """A name in one spelling, without a value behind it."""
    return bare(name.strip().partition("=")[0])


def refusal(engine: Engine, name: str, release: str) -> str:
    """One sentence: that a release does not know a setting, since when, and what to use.

    >>> print(refusal(load_engine("vllm"), "--use-v2-block-manager", "0.11.0"))
    vLLM 0.11.0 has no '--use-v2-block-manager': the last pinned release that has it is 0.9.2; \
nothing has to be set in its place.
    >>> print(refusal(load_engine("vllm"), "--nnodes", "0.11.0"))
    vLLM 0.11.0 has no '--nnodes': it comes with 0.13.0.
    """
    entry = engine.find(name)
    shown = name[:60] if name.isprintable() else ascii(name[:60])[1:-1]
    if entry is None:
        why = "nor has any pinned release"
    elif engine.versions.index(release) < engine.versions.index(entry.since):
        why = f"it comes with {entry.since}"
    elif entry.until is not None:
        why = f"the last pinned release that has it is {entry.until}"
    else:
        why = f"it has one as {ONE[entry.kind]} '{entry.name}' in other releases only"
    use = instead(engine, name)
    if use:
        of_use = {other: engine.find(other) for other in use}
        why += "; use " + " or ".join(
            other if (replacement is None or replacement.at(release) is not None
                      or replacement.until is not None)
            else f"{other} (from {replacement.since} on)" for other, replacement in of_use.items())
    elif use == ():
        why += "; nothing has to be set in its place"
    elif entry is None and (near := engine.near(name)):
        why += f"; the nearest names are {', '.join(near)}"
    return f"{engine.title} {release} has no '{shown}': {why}."


def catalogue_of(name: str) -> Engine:
    """The catalogue of an engine, a bench or a router. Raises ParamsError for another name."""
    return load_engine(name, TOOLS if library.stands(TOOLS, name) else "engines")
