"""Finding, loading and validating the entries of the catalogue, one file at a time."""

from __future__ import annotations

import difflib
import re
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, get_args, get_origin

from pydantic import ValidationError

from catalogue.entries import (
    accuracies,
    bounds,
    calibrations,
    deployments,
    families,
    formulas,
    gates,
    hardware,
    kernels,
    measurements,
    mechanisms,
    models,
    profiles,
    recipes,
    startups,
)
from catalogue.entries.entry import Entry
from catalogue.ledger import advice, documents, quantities, rows, settings
from catalogue.naming import file_of as file_of
from catalogue.naming import locate as locate
from catalogue.naming import names as names
from catalogue.naming import stands as stands
from catalogue.planning import failures, goals, loads, powers, prices, questions
from catalogue.reading import yamlfile
from catalogue.reading.errors import ParamsError
from catalogue.reading.shared import sources
from catalogue.reading.values import Misplaced, Provenance, Ref, Value, check_defaults, is_path
from catalogue.reading.yamlfile import YamlFile

COMMAND_LINE = "given on the command line"
MAX_LIKE = 16  # entries in a chain of likeness
OWN = ("defaults", "name", "note", "like")  # keys that likeness does not pass on
SOLD = ("price",)  # nor these of a card: a price is of what was sold, not of what is like it
NOT_SET = ("id", "defaults", "like")  # keys that an override cannot change

KINDS: dict[str, type[Entry]] = {
    "models": models.Model,
    "families": families.Family,
    "acceptances": models.Acceptance,
    "devices": hardware.Device,
    "links": hardware.Link,
    "nodes": hardware.Node,
    "microbenchmarks": hardware.Microbenchmarks,
    "mechanisms": mechanisms.Mechanisms,
    "formats": deployments.Format,
    "precisions": deployments.Precision,
    "profiles": profiles.Profile,
    "fits": profiles.Fits,
    "kernels": kernels.Kernels,
    "recipes": recipes.Recipes,
    "scenarios": deployments.ScenarioFile,
    "measurements": measurements.Measurements,
    "gates": gates.Gate,
    "startups": startups.StartupLogs,
    "bounds": bounds.StepBounds,
    "consumptions": measurements.Measurements,
    "formulas": formulas.DocumentFormulas,
    "calculators": formulas.Calculator,
    "claims": rows.Claims,
    "quantities": quantities.Quantities,
    "advice": advice.AdviceOf,
    "documents": documents.Document,
    "calibrations": calibrations.CalibrationFile,
    "discrepancies": calibrations.Discrepancy,
    "accuracies": accuracies.Accuracy,
    "settings": settings.Settings,
    "goals": goals.Goal,
    "questions": questions.Question,
    "loads": loads.Load,
    "failures": failures.Failures,
    "prices": prices.Prices,
    "powers": powers.Powers,
}



def referred(kind: str, reference: str, beside: Path | None = None) -> Path:
    """The file of an entry that another file names; one outside the catalogue may be anything.

    Raises ParamsError as :func:`locate` does, and for a file whose keys are not those of the kind.
    """
    path = locate(kind, reference, beside)
    if is_path(reference):
        file = yamlfile.read(path)
        known = KINDS[kind].model_fields
        if unknown := [key for key in file.data if key not in known]:
            raise ParamsError(f"{file.where((unknown[0],))}: '{unknown[0][:60]}' is no key of a "
                              f"file like those in params/{kind}/.")
    return path


class Override(NamedTuple):
    """A value given in place of a file's, and where it was given."""

    raw: Any
    origin: str


def load(kind: str, reference: str | Path, overrides: dict[str, Override] | None = None,
         beside: Path | None = None, file: YamlFile | None = None) -> Any:
    """A validated entry of a kind, with overrides (dotted key -> value) applied.

    ``file`` is what is taken for the contents of the entry's file, where it is a part of it. An
    entry that was loaded is remembered until a file outside ``params/`` of which it was made
    changes.

    Raises ParamsError, one sentence with file and line, or with the origin of an override.
    """
    path = file.path if file else locate(kind, reference, beside)
    if overrides or file:
        return _validated(kind, path, overrides or {}, file or read(path))
    return yamlfile.remembered(kind, path.absolute(),
                               lambda: _validated(kind, path, {}, read(path)))


def _validated(kind: str, path: Path, given: dict[str, Override], file: YamlFile) -> Any:
    """An entry made of its file, of those of what it is like, and of overrides."""
    cls = KINDS[kind]
    data = {"id": path.stem} | _with_base(kind, file)
    for dotted, override in given.items():
        _override(cls, data, dotted, override)
    if data.get("defaults") is None:
        data["defaults"] = {}
    provenance = Provenance(data["defaults"], frozenset(sources()),
                            partial(referred, beside=path))
    try:
        check_defaults(data["defaults"], provenance)
        entry: Any = cls.model_validate(data, context=provenance)
    except Misplaced as problem:
        at = ("defaults", *problem.keys)
        raise ParamsError(f"{file.where(at)}: {'.'.join(map(str, at))}: {problem}.") from None
    except ValidationError as error:
        if "like" in cls.model_fields and file.data.get("like") is not None:
            _check_base(kind, file, error)
        origins = {tuple(dotted.split(".")): override.origin for dotted, override in given.items()}
        raise ParamsError(_sentence(cls, file, error, origins)) from None
    if kind == "devices":
        _check_device(entry, file)
    return entry


def _check_device(device: hardware.Device, file: YamlFile) -> None:
    """Refuse a package of packages, and the mechanisms of another type of device."""
    if device.die is not None:
        die = locate("devices", device.die, file.path)
        if die.resolve() == file.path.resolve() or yamlfile.read(die).data.get("dies") is not None:
            raise ParamsError(f"{file.where(('die',))}: die: '{device.die}' is itself a package, "
                              "expected one of its devices.")
    if device.mechanisms is not None:
        priors: mechanisms.Mechanisms = load("mechanisms", device.mechanisms, beside=file.path)
        if priors.is_host != (device.type == "host"):
            of, expected = (("host processors", "an accelerator") if priors.is_host
                            else ("accelerators", "host processors"))
            raise ParamsError(f"{file.where(('mechanisms',))}: mechanisms: '{device.mechanisms}' "
                              f"are those of {of}, expected those of {expected}.")


def read(path: Path) -> YamlFile:
    """The file of an entry, not yet validated; refuses one that names itself."""
    file = yamlfile.read(path)
    if "id" in file.data:
        raise ParamsError(f"{file.where(('id',))}: the key 'id' is the file's name, leave it out.")
    return file


def _check_base(kind: str, file: YamlFile, error: ValidationError) -> None:
    """Where what is wrong does not stand in an entry's own file, it may stand in that of the one
    it is like, and is told of that file then."""
    if _problem(error)["loc"] not in file.lines or not _problem(error)["loc"]:
        load(kind, file.data["like"], beside=file.path)


def _with_base(kind: str, file: YamlFile, passed: tuple[Path, ...] = ()) -> dict[str, Any]:
    """An entry's data over that of the one it is like: what its file leaves out holds there too.

    A group (peaks, power) is merged key by key; ``null`` takes a value away.
    """
    cls, reference = KINDS[kind], file.data.get("like")
    if "like" not in cls.model_fields or reference is None:
        return file.data
    where = file.where(("like",))
    if not isinstance(reference, str):
        raise ParamsError(f"{where}: 'like' is the name of a {kind[:-1]}.")
    try:
        path = locate(kind, reference, file.path)
    except ParamsError as error:
        raise ParamsError(f"{where}: like: {error}") from None
    if path.resolve() in (file.path.resolve(), *passed):
        raise ParamsError(f"{where}: '{reference}' is in turn like this {kind[:-1]}.")
    if len(passed) == MAX_LIKE:
        raise ParamsError(f"{where}: a chain of more than {MAX_LIKE} {kind} that are like one "
                          "another.")
    base = _with_base(kind, read(path), (*passed, file.path.resolve()))
    return over({key: _inherited(cls, key, raw, base.get("defaults"), path)
                  for key, raw in base.items()
                  if key not in (*OWN, *(SOLD if kind == "devices" else ()))},
                 file.data)


def over(base: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    """A group's own keys over those of the base, groups inside it likewise."""
    merged = dict(base)
    for key, raw in own.items():
        grouped = isinstance(merged.get(key), dict) and "value" not in merged[key]
        merged[key] = over(merged[key], raw) if grouped and isinstance(raw, dict) else raw
    return merged


def _inherited(cls: type[Entry], key: str, raw: Any, defaults: Any, path: Path) -> Any:
    """A raw value as another file may have it: its own defaults written out, paths found from its
    own folder, and without what documents print, which is about the one device."""
    field = cls.model_fields.get(key)
    if field is None:
        return raw
    if (kind := _referred_kind(field.annotation)) and isinstance(raw, str) and is_path(raw):
        try:
            return str(locate(kind, raw, path).absolute())
        except ParamsError:  # told when the device is checked
            return raw
    if _is_quantity(field.annotation):
        return _inherited_value(raw, defaults)
    if (group := _entry_class(field.annotation)) and isinstance(raw, dict):
        return {name: _inherited(group, name, item, defaults, path) for name, item in raw.items()}
    return raw


def _inherited_value(raw: Any, defaults: Any) -> Any:
    if raw is None:
        return None
    value = raw if isinstance(raw, dict) else {"value": raw}
    if "source" not in value and isinstance(defaults, dict):
        value = defaults | value
    if not isinstance(value.get("others"), list):
        return value
    return value | {"others": [other for other in value["others"]
                               if not (isinstance(other, dict)
                                       and other.get("kind") == "documented")]}


def _problem(error: ValidationError) -> Any:
    """The problem to tell: a misspelt key is both unknown and missing, the first says more."""
    problems = error.errors(include_url=False)
    return next((item for item in problems if item["type"] == "extra_forbidden"), problems[0])


def _sentence(cls: type[Entry], file: YamlFile, error: ValidationError,
              overridden: dict[tuple[str, ...], str]) -> str:
    problem = _problem(error)
    keys = tuple(key for key in problem["loc"] if key != "[key]")
    raised = problem.get("ctx", {}).get("error")
    inside = getattr(raised, "keys", ()) or tuple(re.findall(r"^'(\w+)'", str(raised)))
    origins = [text for key, text in overridden.items() if keys[:len(key)] == key]
    if not origins:  # a rule over a group or the whole, which the file alone may keep
        at = (*keys, *inside) if keys else ()
        below = [text for key, text in overridden.items() if key[:len(at)] == at]
        origins = [", ".join(below)] if below else []
    where = origins[0] if origins else file.where(keys)
    name = ".".join(str(key)[:60] for key in keys)
    match problem["type"]:
        case "extra_forbidden":
            if not origins and len(keys) == 1 and (other := _other_kind(cls, file)):
                return f"{where}: {other}."
            known = fields_at(cls, keys[:-1])
            near = difflib.get_close_matches(str(keys[-1])[:60], known, n=1)
            hint = f"did you mean '{near[0]}'" if near else f"expected one of {', '.join(known)}"
            return f"{where}: unknown key '{name}', {hint}."
        case "missing":
            return f"{where}: the key '{name}' is missing."
        case "value_error":
            message = str(raised)
            if not origins and (*keys, *inside) in file.lines:
                where = file.where((*keys, *inside))
        case _:
            expected = {"model_type": "a group of keys", "list_type": "a list",
                        "dict_type": "a group of keys", "string_type": "a text",
                        "int_type": "a whole number", "bool_type": "true or false"}
            message = problem["msg"].replace("Input should be", "expected")
            message = f"expected {expected[kind]}" if (kind := problem["type"]) in expected \
                else message[0].lower() + message[1:]
            message += f", found '{str(problem['input'])[:40]}'"
    stop = "" if message.endswith("?") else "."
    return f"{where}: {name + ': ' if name and not origins else ''}{message}{stop}"


def _other_kind(cls: type[Entry], file: YamlFile) -> str | None:
    """That a file is one of another kind, all keys of which it has, and none but its keys."""
    kinds = {known: kind for kind, known in reversed(KINDS.items())}
    of = [name for known, name in kinds.items() if file.data.keys() <= known.model_fields.keys()
          and all(key in file.data for key, field in known.model_fields.items()
                  if field.is_required() and key != "id")]
    return (f"these are the keys of a file in params/{of[-1]}/, expected those of one in "
            f"params/{kinds[cls]}/" if of and cls in kinds else None)


def fields_at(cls: type[Entry], keys: tuple[str | int, ...]) -> list[str]:
    """Keys that an entry takes, or one of its sections."""
    for key in keys:
        field = cls.model_fields.get(str(key))
        inner = _entry_class(field.annotation) if field else None
        if inner is None:
            break
        cls = inner
    return [name for name in cls.model_fields if name not in ("id", "defaults")]


def _entry_class(annotation: Any) -> type[Entry] | None:
    for candidate in (annotation, *get_args(annotation)):
        if isinstance(candidate, type) and issubclass(candidate, Entry):
            return candidate
    return None


def _referred_kind(annotation: Any) -> str | None:
    """The kind of entry that a field names, if it names one."""
    for part in (annotation, *get_args(annotation)):
        for item in getattr(part, "__metadata__", ()):
            if isinstance(item, Ref):
                return item.kind
    return None


def _is_quantity(annotation: Any) -> bool:
    return annotation is Value or any(_is_quantity(arg) for arg in get_args(annotation))


def _override(cls: type[Entry], data: dict[str, Any], dotted: str,
              override: Override) -> None:
    """Set one dotted key in raw data; numbers get the command line as their source."""
    *parents, last = dotted.split(".")
    if dotted == "like":
        raise ParamsError(f"{override.origin}: 'like' stands in a device's file, expected another "
                          "device (device=NAME).")
    target, owner = data, cls
    if parents and _holds_quantities(cls.model_fields.get(parents[0])):  # gemm_efficiency.fp8
        stated = target.get(parents[0])
        target[parents[0]] = (stated if isinstance(stated, dict) else {}) | {
            dotted.partition(".")[2]: _given(override)}
        return
    for depth, key in enumerate(parents):
        field = owner.model_fields.get(key)
        inner = _entry_class(field.annotation) if field else None
        if inner is None:
            raise ParamsError(f"{override.origin}: '{'.'.join(parents[:depth + 1])}' holds no "
                              f"keys, expected one of {', '.join(fields_at(owner, ()))}.")
        owner = inner
        child = target.get(key)
        target[key] = dict(child) if isinstance(child, dict) else {}
        target = target[key]
    field = owner.model_fields.get(last)
    if field is None or last in NOT_SET:
        known = fields_at(owner, ())
        near = difflib.get_close_matches(last, known, n=3, cutoff=0.4) or known
        raise ParamsError(f"{override.origin}: unknown key '{last}', "
                          f"the nearest names are {', '.join(near)}.")
    if _is_quantity(field.annotation):
        target[last] = _given(override)
    else:
        target[last] = override.raw


def _given(override: Override) -> dict[str, Any]:
    """A quantity with the command line as its source."""
    return {"value": override.raw, "source": COMMAND_LINE, "kind": "assumed"}


def _holds_quantities(field: Any) -> bool:
    """Whether a field has quantities by names that are no fields of their own."""
    return field is not None and get_origin(field.annotation) is dict and _is_quantity(
        field.annotation)
