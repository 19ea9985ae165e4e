"""Finding, loading and validating the entries of the catalogue, one file at a time.

A name is resolved in one way for every kind of entry, in whatever case it is written.
"""

from __future__ import annotations

import contextlib
import copy
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar, get_args, get_origin

from pydantic import ValidationError

from catalogue.entries import hardware
from catalogue.entries.entry import Entry
from catalogue.kinds import (
    KINDS,
    class_of,
    described,
    described_kind,
    has_layout,
    misfit,
    new,
    template_of,
    wrapped,
)
from catalogue.reading import units, yamlfile
from catalogue.reading.files import ROOT, ParamsError, is_file, is_folder
from catalogue.reading.near import TYPO, nearest_names
from catalogue.reading.synonyms import (
    POOLS,
    amount_meant,
    attention_layout,
    card_way,
    entry_key_meant,
    is_cache_format,
    key_meant,
    name_meant,
    names_group,
    pool_meant,
    value_meant,
    way,
)
from catalogue.reading.syntax import full_width, half_width
from catalogue.reading.values import (
    MeantError,
    Provenance,
    Ref,
    Stated,
    Value,
    Violations,
    annotated,
    is_path,
    source_keys,
)
from catalogue.reading.yamlfile import KeyPath, YamlFile

MAX_NAME = 4096
_PUBLISHED = re.compile(r"[\w-][\w.-]*/[\w.-]+")  # a model as its publisher writes it
_COUNTED = re.compile(r"([1-9]\d{0,3})\s*[x×*]\s*(.+)|(.+?)\s*[x×*:]\s*([1-9]\d{0,3})")
OF_A_DOCUMENT = re.compile(r"s[0-9]-")  # an entry as a document describes it
SHOWN = 8  # names of a kind that are told where none is near
PREFIXED = ("devices", "models", "precisions")  # kinds whose names have parts that people use
LEAST = 3  # letters of a part
SEE = {"scenarios": "estimate", "goals": "search", "models": "show", "devices": "show",
       "gates": "dev validate --system"}
"""Kinds that are taken for one another, and the command that takes an entry."""
NESTED = {"startups": "measurements/memory"}
"""Folders of kinds that are not named after their kind."""
WITHOUT_MAKER = ("devices",)  # kinds whose entries are found without the first part: 910B2
HERE = Path("command line")  # beside which the files of the current folder are


def folder_of(kind: str) -> Path:
    """Folder of the entries of a kind."""
    return ROOT / NESTED.get(kind, kind)


def names(kind: str) -> list[str]:
    """Identifiers of all entries of a kind, sorted."""
    folder = folder_of(kind)
    yamlfile.note(folder)
    return [*yamlfile.names_in(folder)]


@lru_cache(maxsize=4096)
def file_of(kind: str, name: str) -> Path:
    """Where the entry of an identifier stands, if it does."""
    return folder_of(kind) / f"{name}.yml"


@lru_cache(maxsize=4096)
def stands(kind: str, name: str) -> bool:
    """Whether the catalogue has an entry of that identifier; looks at no other file."""
    try:
        return file_of(kind, name).is_file()
    except (OSError, ValueError):  # longer than a name can be
        return False


def also(kind: str, name: str) -> list[str]:
    """Further names of an entry, the ``also`` of its file."""
    path = file_of(kind, name)

    def stated() -> list[str]:
        if "\nalso:" not in path.read_text("utf-8"):  # parsing takes longer
            return []
        values: Any = yamlfile.read(path, "also").data.get("also")
        return [str(value) for value in values] if isinstance(values, list) else []

    return yamlfile.remembered("further names", path, stated)


def plain(text: str) -> str:
    """A name without what people write differently: case, spaces, a publisher before a slash.

    >>> plain("deepseek-ai/DeepSeek-V3"), plain("NVIDIA H200")
    ('deepseek-v3', 'nvidia-h200')
    """
    return re.sub(r"[\s_]+", "-", text.strip().casefold().rpartition("/")[2])


def locate(kind: str, reference: str | Path, beside: Path | None = None) -> Path:
    """The file of an entry: a path, an identifier, or another of its names.

    A path is looked for beside the file that names it (``beside``, if one does; ``HERE`` of the
    command line), from the current folder, and from the project's root. A name that is none of the
    catalogue may be that of a file beside a reader's own. It may be written in any case; ``also``
    in the file of an entry holds its further ones. Of a device the last part is enough where only
    one ends so.

    Raises ParamsError naming the nearest identifiers when there is no such entry, and all that are
    meant where a name is that of several, of the catalogue or of it and a file.
    """
    if not isinstance(reference, (str, Path)):
        raise ParamsError(f"expected a name or a path, found {units.shown(reference)}.")
    text = str(reference).strip()
    if not text or not text.isprintable() or len(text) > MAX_NAME:
        raise ParamsError(f"{kind[:-1]}: {text[:40]!a} is not a name, expected an identifier or "
                          "a path.")
    if is_path(text):
        problem = "a folder, expected a file" if is_folder(Path(text)) else "there is no such file"
        for folder in (*([beside.parent] if beside else []), Path(), ROOT.parent):
            try:
                if (folder / text).is_file():
                    return folder / text
            except OSError as error:  # what the file system refuses
                problem = f"cannot be read ({(error.strerror or 'refused').lower()})"
        published = "/".join(text.split("?")[0].rstrip("/").split("/")[3:5])
        if "://" in text and (named := _meant(kind, published)):
            raise ParamsError(f"'{text}' is an address, expected a name: write {published} or "
                              f"{named}.")
        if not _PUBLISHED.fullmatch(text) or text.lower().endswith((".yml", ".yaml")):
            near = _files_near(text, beside) or (
                f", did you mean {named}" if (named := _meant(kind, text)) else "")
            raise ParamsError(f"{text}: {problem}{near}.")
    if stands(kind, text) and not (beside and yamlfile.is_own(beside)):
        return file_of(kind, text)
    neighbour = (beside.parent if beside else Path()) / f"{text}.yml"
    named = _meant(kind, text)
    if is_file(neighbour) and neighbour != beside and yamlfile.is_own(neighbour):
        if named is None:
            return neighbour
        if _may_be(kind, neighbour):
            raise _named_twice(kind, text, neighbour, named)
    if named is None:
        if is_file(Path(text)):
            return Path(text)
        raise ParamsError(f"'{text}' is a folder, expected a file or the name of {described(kind)}."
                          if is_folder(Path(text)) else _unknown(kind, text))
    return file_of(kind, named)


def _may_be(kind: str, file: Path) -> bool:
    """Whether a reader's file may be of a kind: not where it clearly describes another."""
    try:
        of = described_kind(yamlfile.read(file, as_meant=True).data, kind)
    except ParamsError:
        return True
    return of is None or of == kind


def refuse_named_twice(kind: str, text: str, file: Path) -> None:
    """Raise ParamsError for a name of a reader's file that the catalogue has, too."""
    if named := _meant(kind, text):
        raise _named_twice(kind, text, file, named)


def _named_twice(kind: str, text: str, file: Path, named: str) -> ParamsError:
    other = f"{named}." if named != text else "rename that file."
    return ParamsError(f"'{text}' is {file.name} here and {described(kind)} of the catalogue: "
                       f"write {file.name}, or {other}")


def _files_near(text: str, beside: Path | None) -> str:
    """The parameter file that may be meant by a path, for a message: in its folder, or here."""
    if "://" in text:
        return "; this program fetches nothing: download " + (
            "config.json, then `will-it-fit import-model config.json -o model.yml`"
            if "huggingface" in text or text.endswith("config.json") else "the file and name that")
    for folder in (Path(text).parent, beside.parent if beside else Path()):
        with contextlib.suppress(OSError, ValueError):
            files = {path.stem: path for path in [*folder.glob("*.yml"), *folder.glob("*.yaml")]}
            own = beside.stem if beside else ""
            for name in nearest_names(Path(text).stem, sorted({*files} - {own}), 1, TYPO):
                return f", did you mean {files[name]}"
    return ""


def _meant(kind: str, text: str) -> str | None:
    """The entry that a name means, which is no identifier as it is written; None if none."""
    existing, wanted = names(kind), plain(text)
    if wanted in existing:
        return wanted
    spelt = {}
    for name in existing:
        spelt[name] = [*map(plain, (name, *also(kind, name)))]
        if wanted in spelt[name]:  # files behind it need not be read
            return name
    joined = [name for name, others in spelt.items()
              if {_joined(kind, name, wanted)} & {_joined(kind, name, other) for other in others}]
    if not joined and kind == "devices" and (parts := re.fullmatch(r"(.+?)\s*\((.+)\)", text)):
        return _meant(kind, parts[2]) or _meant(kind, parts[1])  # Atlas 800I A2 (910B3)
    return joined[0] if len(joined) == 1 else None


def _joined(kind: str, name: str, spelling: str) -> str:
    """A spelling of an entry's name without hyphens, its maker and the B of gigabytes."""
    maker = name.partition("-")[0] if kind in WITHOUT_MAKER else ""
    return re.sub(r"(?<=\d)gb$", "g", spelling.replace("-", "").removeprefix(maker))


def counted_card(text: str) -> tuple[str, str] | None:
    """Number and name of a card of the catalogue that is written with one: ``8xH200``."""
    match = _COUNTED.fullmatch(text)
    number, card = match.group(1, 2) if match and match[1] else (
        match.group(4, 3) if match else ("", ""))
    return (number, card) if card and _meant("devices", card) else None


def _unknown(kind: str, text: str) -> str:
    """That there is no such entry, and what there is: several of that name, or the nearest."""
    if kind not in KINDS:
        return f"there is no kind '{kind}', expected one of {', '.join(KINDS)}."
    if wide := full_width(text):
        return f"'{text}': {wide}, write {half_width(text)}."
    if "," in text and all(_meant(kind, part) for part in text.split(",")):
        return f"'{text}' names several {kind}, expected one; a goal of `search` takes several."
    if kind == "devices" and (match := counted_card(text)):
        return (f"'{text}' is a card and a number: write {match[1]}, and the number of cards as "
                f"cluster: {{devices: {match[0]}}}, in a goal as cards: {match[0]}.")
    existing, wanted = names(kind), plain(name_meant(text))
    if kind == "devices" and (maker := value_meant(text, {"ascend", "nvidia", "amd"})):
        return (f"'{text}' is a kind of card, expected a card, one of "
                f"{', '.join(name for name in existing if name.startswith(maker))}.")
    for other in SEE if kind in SEE else ():
        if entry := _meant(other, text):
            return (f"'{text}' is {described(other)}, expected {described(kind)}; see: "
                    f"{SEE[other]} {entry}.")
    begins = f"{'' if kind == 'models' else '(.*-)?'}{re.escape(wanted)}"
    begins += "(?![0-9])" if wanted[-1:].isdigit() else ""
    several = [name for name in existing if re.match(begins, name)]
    if kind in PREFIXED and len(wanted) >= LEAST and len(several) > 1:
        raw = {name: data for name in several
               if "dies" not in (data := yamlfile.read(file_of(kind, name)).data)}
        if len(raw) == 1:
            return (f"'{text}' is a package that software sees as several devices: write "
                    f"{min(raw)}, and count each of them as a card.")
        listed = [f"{name} ({title.get('en', name) if isinstance(title, dict) else name})"
                  for name, data in raw.items() for title in [data.get("name")]]
        return (f"'{text}' may be any of several {kind}, expected one of them: "
                f"{', '.join(listed)}.")
    spellings = {
        name: [*also(kind, name), *([name.partition("-")[2]] if kind in WITHOUT_MAKER else [])]
        for name in existing if kind != "models" or not OF_A_DOCUMENT.match(name)}
    near = nearest_names(wanted, spellings, cutoff=0.5, also=spellings)
    named = _meant(kind, wanted)
    near = [named] if named else near or [name for name in existing if wanted in name][:SHOWN]
    own = f"; {template} prints a template" if (template := new(kind)) else ""
    nearby = (f", did you mean {near[0]}" if len(near) == 1 else
              f", the nearest names are {', '.join(near)}" if near else
            f", expected one of {len(existing)}, such as {', '.join(existing[:SHOWN])}")
    return f"there is no {described(kind).partition(' ')[2] or kind} '{text}'{nearby}{own}."


COMMAND_LINE = "given on the command line"
OWN = ("defaults", "name", "note", "like")  # keys that likeness does not pass on
SOLD = ("price",)  # nor these of a card: a price is of what was sold, not of what is like it
GROUPS = ("cluster", "parallelism", "workload", "limits", "demand", "cards", "space")
"""Groups of keys of a deployment or a goal, each with names of its own."""
CARD_COUNTS = ("cluster", "cards", "cluster.devices", "cards.most")
"""Keys that state a number of cards; names of cards belong elsewhere."""
UNLIMITED = ("inf", ".inf", "infinity", "unlimited")
NOT_SET = ("id", "defaults", "like")  # keys that an override cannot change
ROUNDS = 8  # of mending what is refused; further mistakes are told when these are corrected

def referred(kind: str, reference: str, beside: Path | None = None) -> Path:
    """The file of an entry that another file names, as :func:`locate`; a reader's own is read, so
    that what is made of the other follows it."""
    neighbour = beside.parent / f"{reference}.yml" if beside else None
    if not is_path(reference) and stands(kind, reference) and not (
            neighbour and is_file(neighbour)):
        return file_of(kind, reference)
    path = locate(kind, reference, beside)
    return path if stands(kind, path.stem) and path == file_of(kind, path.stem) else (
        yamlfile.read(path).path)


Parsed = TypeVar("Parsed", bound=Entry)


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


def _validated(kind: str, path: Path, given: dict[str, Override], file: YamlFile,
               alone: bool = True) -> Any:
    """An entry made of its file, of those of what it is like, and of overrides.

    Where it is refused, so are files of the reader's own that it names, unless it is one of these.
    """
    cls, data = class_of(kind), _data(kind, file, given)
    try:
        entry: Any = cls.model_validate(data, context=_provenance(data, path))
    except ValidationError as error:
        if "like" in cls.model_fields and file.data.get("like") is not None and any(
                not item["loc"] or item["loc"] not in file.lines for item in error.errors()):
            load(kind, file.data["like"], beside=file.path)  # it is told of the base's file then
        origins = {keys: origin for keys, origin in file.origins.items() if keys} | {
            tuple(dotted.split(".")): override.origin for dotted, override in given.items()}
        raise ParamsError(*file.mistakes, *refusals(cls, _attempts(kind, file, given), origins),
                          *(_refused_entries(cls, data, path) if alone else ())) from None
    if file.mistakes:
        raise ParamsError(*file.mistakes)
    if kind == "devices":
        _check_device(entry, file)
    return entry


def _data(kind: str, file: YamlFile, given: dict[str, Override]) -> dict[str, Any]:
    """Raw data of an entry: of its file, of what it is like, and of overrides."""
    data = {"id": file.path.stem} | _with_base(kind, file)
    for dotted, override in given.items():
        _override(class_of(kind), data, dotted, override)
    return data


def _attempts(kind: str, file: YamlFile, given: dict[str, Override]
              ) -> Iterator[tuple[YamlFile, Sequence[Any]]]:
    """Yield a file that is refused and why, then again with what can be mended, so that the rules
    over several keys are checked too.

    Unknown keys are read as those that they mean, then values as what they mean; what is left is
    taken out.
    """
    cls, mended = class_of(kind), set[KeyPath]()
    for _ in range(ROUNDS):
        data = _data(kind, file, given)
        try:
            cls.model_validate(data, context=_provenance(data, file.path))
            problems = []
        except ValidationError as error:
            problems = [item for item in error.errors(include_url=False)
                        if not any(item["loc"][:len(keys)] == keys
                                   or keys[:len(item["loc"])] == item["loc"] for keys in mended)
                        and not (item["type"] == "missing" and "variants" in file.data)]
        yield file, problems
        if not problems:
            return
        if unknown := _unknown_keys(problems, file) or _names_with_keys(cls, problems):
            file = _mended(cls, file, unknown)
            continue
        mended |= {item["loc"] for item in problems if item["type"] == "missing"}
        file = replace(file, data=copy.deepcopy(file.data))
        meant = {item["loc"]: raised.meant for item in problems
                 if isinstance(raised := item.get("ctx", {}).get("error"), MeantError)}
        for item in problems:
            keys = (*item["loc"], *getattr(item.get("ctx", {}).get("error"), "keys", ()))
            if keys in meant:
                _set(file.data, keys, meant[keys])
            elif not meant and keys:
                _set(file.data, keys, None)
                mended |= {keys, *({keys[:1]} if keys[0] not in file.data else ())}


def _set(data: dict[Any, Any], keys: KeyPath, value: Any) -> None:
    """Replace the value under some keys, or under the deepest of them that are groups; None takes
    it out, with groups that are then empty."""
    key, *below = keys
    if below and isinstance(data.get(key), dict):
        _set(data[key], tuple(below), value)
        value = data[key] or None
    data[key] = value
    if value is None:
        del data[key]


def as_meant(kind: str, file: YamlFile, given: dict[str, Override]) -> YamlFile:
    """A file with what is refused read as what it means, or left out."""
    *_, (meant, _) = _attempts(kind, file, given)
    return meant


def _unknown_keys(problems: Iterable[Any], file: YamlFile) -> list[KeyPath]:
    return [item["loc"] for item in problems
            if item["type"] == "extra_forbidden" and item["loc"] in file.lines
            and item["loc"] not in file.origins]


def _names_with_keys(cls: type[Entry], problems: Iterable[Any]) -> list[KeyPath]:
    """Keys under which a group with a name stands where the name alone is expected."""
    return [item["loc"] for item in problems
            if len(item["loc"]) == 1 and isinstance(item["input"], dict)
            and item["type"] != "missing"
            and not _is_group(cls, item["loc"]) and any(map(names_group, item["input"]))]


def _named_release(value: Any) -> str | None:
    """A group of a name and a version as engines are named, ``vllm@0.11.0``; None for another."""
    if not isinstance(value, dict) or not {"name", "version"} <= value.keys():
        return None
    name = str(value["name"])
    return f"{_meant('profiles', name) or name.casefold()}@{value['version']}"


def _mended(cls: type[Entry], file: YamlFile, unknown: Iterable[KeyPath]) -> YamlFile:
    """A file with unknown keys read as those that they mean, or left out.

    The keys of a group that is none of the kind are read as if they stood at the top, one that
    names the group as the group.
    """
    data, lines = copy.deepcopy(file.data), dict(file.lines)

    def put(keys: KeyPath, value: Any, below: Mapping[KeyPath, int]) -> None:
        *above, name = keys
        target: Any = data
        for key in above:
            target = target.setdefault(key, {}) if isinstance(target, dict) else None
        if not isinstance(target, dict):
            return
        if name in target and isinstance(value, dict):
            for key, inner in value.items():
                put((*keys, key), inner, {path[1:]: line for path, line in below.items()
                                          if path[:1] == (key,)})
        elif name not in target or keys not in lines:  # a default of the engine
            target[name] = value
            lines.update({(*keys, *path): line for path, line in below.items()})

    for keys in unknown:
        *group, last = keys
        holder: Any = data
        for key in group:
            holder = holder[key]
        value = holder.pop(last)
        below = {path[len(keys):]: lines.pop(path) for path in file.lines
                 if path[:len(keys)] == keys}
        if "variants" in cls.model_fields and len(keys) == 1 and isinstance(value, dict) and (
                pool := pool_meant(str(last))):
            put(("variants", pool), value, below)
            data["pools"] = list(POOLS)
            continue
        near = _near(cls, keys, value, file)
        value = _inside(near or (), value)
        if release := _named_release(value):
            value = {"name": release} | {
                key: inner for key, inner in value.items() if key not in ("name", "version")}
        if isinstance(value, dict) and not (near and _is_group(cls, near)) and not _advice(
                cls, keys, file):
            for key, inner in value.items():
                put(near if near and names_group(str(key)) else (key,), inner, {
                    path[1:]: line for path, line in below.items() if path[:1] == (key,)})
        elif near is not None:
            per = re.search(r"[ _]per[ _](second|minute|hour|day)$", str(last), re.IGNORECASE)
            put(near, f"{value}/{per[1].casefold()}" if per and near[-1] == "arrival_rate" and (
                "/" not in str(value)) else value, below)
    if "parallelism" in cls.model_fields and (layout := attention_layout(file.data)):
        data["parallelism"] = layout
        lines.setdefault(("parallelism",), min(file.line(keys) for keys in unknown))
    return replace(file, data=data, lines=lines)


def _is_group(cls: type[Entry], keys: KeyPath) -> bool:
    """Whether there are keys below some of a kind."""
    for key in keys[:-1]:
        field = cls.model_fields.get(str(key))
        inner = _entry_class(field.annotation) if field else None
        if inner is None:
            return True  # values by name
        cls = inner
    field = cls.model_fields.get(str(keys[-1]))
    return field is None or _entry_class(field.annotation) is not None or (
        _is_quantity(field.annotation) or get_origin(field.annotation) is dict)


def _refused_entries(cls: type[Entry], data: Any, path: Path) -> Iterator[str]:
    """Mistakes in files of the reader's own that a file names."""
    for key, field in cls.model_fields.items() if isinstance(data, dict) else ():
        ref, group = annotated(field, Ref), _entry_class(field.annotation)
        for raw in data[key] if isinstance(data.get(key), list) else [data.get(key)]:
            if ref and isinstance(raw, str):
                with contextlib.suppress(ParamsError):  # a name that is unknown is told already
                    named = locate(ref.kind, raw, path)
                    if yamlfile.is_own(named):
                        try:
                            _validated(ref.kind, named, {}, read(named), alone=False)
                        except ParamsError as error:
                            yield from error.problems
            elif group:
                offer = {"device": raw} if isinstance(raw, str) else raw  # as a goal names cards
                yield from _refused_entries(group, offer, path)


def _provenance(data: Any, path: Path) -> Provenance:
    """What the values of a file are checked against."""
    return Provenance(_defaults(data, path), source_keys() | {path.name},
                      partial(referred, beside=path), yamlfile.is_own(path))


def _defaults(data: Any, path: Path) -> dict[str, Any]:
    """Provenance of the bare numbers of a file: as stated; a reader's own are assumptions."""
    stated = data.get("defaults") if isinstance(data, dict) else None
    unstated = {"source": path.name, "kind": "assumed"} if yamlfile.is_own(path) else {}
    return unstated | (stated if isinstance(stated, dict) else {})


def parsed(cls: type[Parsed], file: YamlFile, *keys: str) -> Parsed:
    """What stands under some keys of a file that is no entry of the catalogue, as a class has it.

    Raises ParamsError, one sentence with file and line.
    """
    raw: Any = file.data
    for key in keys:
        raw = raw[key]
    try:
        return cls.model_validate(raw, context=_provenance(raw, file.path))
    except ValidationError as error:
        problems = error.errors(include_url=False)
        raise ParamsError(*refusals(cls, [(file, problems)], {}, keys)) from None


def _check_device(device: hardware.Device, file: YamlFile) -> None:
    """Refuse a package of packages, and the mechanisms of another type of device."""
    if device.die is not None:
        die = locate("devices", device.die, file.path)
        if die.resolve() == file.path.resolve() or yamlfile.read(die).data.get("dies") is not None:
            raise ParamsError(f"{file.where(('die',))}: die: '{device.die}' is itself a package, "
                              "expected one of its devices.")
    if device.mechanisms is not None:
        priors: hardware.Mechanisms = load("mechanisms", device.mechanisms, beside=file.path)
        if priors.is_host != (device.type == "host"):
            of, expected = (("host processors", "an accelerator") if priors.is_host
                            else ("accelerators", "host processors"))
            raise ParamsError(f"{file.where(('mechanisms',))}: mechanisms: '{device.mechanisms}' "
                              f"are those of {of}, expected those of {expected}.")


def read(path: Path) -> YamlFile:
    """The file of an entry, not yet validated; refuses one that names itself."""
    file = yamlfile.read(path, as_meant=True)
    if "id" in file.data:
        raise ParamsError(f"{file.where(('id',))}: the key 'id' is the file's name, leave it out.")
    return file


def _with_base(kind: str, file: YamlFile, passed: tuple[Path, ...] = ()) -> dict[str, Any]:
    """An entry's data over that of the one it is like: what its file leaves out holds there too.

    A group (peaks, power) is merged key by key; ``null`` takes a value away. A reader's own card
    that is like no other has what is usual of its type, ``params/usual/``.
    """
    cls, reference = class_of(kind), file.data.get("like")
    if kind == "devices" and reference is None and yamlfile.is_own(file.path) and (
            is_file(path := ROOT / "usual" / f"{file.data.get('type')}.yml")):
        usual = read(path).data
        return over({key: _inherited(cls, key, raw, usual["defaults"], path)
                     for key, raw in usual.items() if key not in OWN}, file.data)
    if "like" not in cls.model_fields or reference is None:
        return file.data
    where = file.where(("like",))
    try:
        path = locate(kind, reference, file.path)
    except ParamsError as error:
        raise ParamsError(f"{where}: like: {error}") from None
    if path.resolve() in (file.path.resolve(), *passed):
        raise ParamsError(f"{where}: '{reference}' is in turn like this {kind[:-1]}.")
    of_base = read(path)
    if of_base.mistakes:
        raise ParamsError(*of_base.mistakes)
    base = _with_base(kind, of_base, (*passed, file.path.resolve()))
    defaults = _defaults(base, path)
    return over({key: _inherited(cls, key, raw, defaults, path)
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
    ref = annotated(field, Ref)
    if ref and isinstance(raw, str) and is_path(raw):
        try:
            return str(locate(ref.kind, raw, path).absolute())
        except ParamsError:  # told when the device is checked
            return raw
    if _is_quantity(field.annotation) and raw is not None:
        value = raw if isinstance(raw, dict) else {"value": raw}
        if "source" not in value and isinstance(defaults, dict):
            value = defaults | value
        others = value.get("others")
        return value | {"others": [other for other in others if not isinstance(other, dict)
                                   or other.get("kind") != "documented"]
                        } if isinstance(others, list) else value
    if (group := _entry_class(field.annotation)) and isinstance(raw, dict):
        return {name: _inherited(group, name, item, defaults, path) for name, item in raw.items()}
    return raw


def refusals(cls: type[Entry], attempts: Iterable[tuple[YamlFile, Sequence[Any]]],
             overridden: Mapping[KeyPath, str], above: tuple[str, ...] = ()) -> list[str]:
    """Why an entry is refused: a sentence for each mistake, in the order of the file's lines.

    Args:
        cls: of the entry.
        attempts: the file that describes it and what pydantic found, then those of the file with
            its unknown keys read as those that they mean.
        overridden: keys that are given elsewhere, with their origins.
        above: keys under which the entry stands in its file.
    """
    by_line: list[tuple[int, list[str]]] = []
    for file, problems in attempts:
        unknown = [] if above else _unknown_keys(problems, file)
        top = next((keys for keys in unknown if len(keys) == 1), None)
        if top and not by_line and (other := _other_kind(cls, file)):
            return [f"{file.where(top)}: {other}."]
        by_line += _by_line(cls, file, [
            item for item in problems if not unknown or item["loc"] in unknown], overridden, above)
    by_line.sort(key=lambda pair: pair[0])
    listed: set[str] = set()
    texts = []
    for text in dict.fromkeys(text for _, texts in by_line for text in texts):
        names = text.partition(", expected one of ")[2].rstrip(".")
        texts.append(text.replace(f"expected one of {names}", "remove it, no key is near")
                     if names in listed and "unknown key" in text else text)
        listed.add(names)
    return texts


def _by_line(cls: type[Entry], file: YamlFile, problems: Iterable[Any],
             overridden: Mapping[KeyPath, str], above: tuple[str, ...]
             ) -> list[tuple[int, list[str]]]:
    """A sentence for each mistake, with its line; arguments as of :func:`refusals`."""
    misspelt = {_near(cls, item["loc"], item["input"], file) for item in problems
                if item["type"] == "extra_forbidden"}
    wrong_defaults = {item["loc"][-1] for item in problems if item["loc"][0:1] == ("defaults",)}
    problems_by_line: list[tuple[int, list[str]]] = []
    for item in problems:
        raised = item.get("ctx", {}).get("error")
        if item["type"] == "default_factory_not_called" or (
                item["type"] == "missing" and item["loc"] in misspelt):
            continue  # other keys are refused; a misspelt key is both unknown and missing
        if item["loc"] and item["loc"][-1] in wrong_defaults and item["loc"] not in file.lines:
            continue  # a value inherits what is wrong
        of_lines: dict[int, str] = {}  # rules that one number breaks are told once
        for one in raised.problems if isinstance(raised, Violations) else (raised,):
            line, text = _refusal(cls, file, item, one, overridden, above)
            of_lines.setdefault(line, text)
        problems_by_line.append((min(of_lines), [*of_lines.values()]))
    return problems_by_line


def _near(cls: type[Entry], keys: KeyPath, value: Any = None, file: YamlFile | None = None
          ) -> KeyPath | None:
    """The keys that are meant by some of which the last is unknown: those of another group, what
    other tools call so, or the nearest that the file does not state; None where none is near."""
    *group, last = map(str, keys)
    fields = fields_at(cls, keys[:-1])
    if last.partition(".")[0] in fields:  # workload.concurrency, as --set has it
        return *group, *last.split(".")
    groups = [name for name, field in cls.model_fields.items()
              if name in GROUPS and (inner := _entry_class(field.annotation))
              and last in inner.model_fields]
    own = cls.model_fields.keys()
    goal = "demand" in own
    meant = key_meant(last, goal) if {"workload", "demand"} & own else None
    if groups:
        return groups[0], last
    if group == ["cluster"] and names_group(last):
        return "cluster", "node"
    if inside := entry_key_meant(last, fields):
        takes_keys = "date" not in fields_at(cls, (*keys[:-1], *inside))  # of a sourced value
        return None if isinstance(value, dict) and "value" not in value and not takes_keys else (
            *group, *inside)
    if meant in CARD_COUNTS and isinstance(value, (str, list)) and not amount_meant(
            f"{value} ", "1") and re.search("[^\\W\\d]", str(value)):
        meant = "devices" if goal else "device"
    if _advice(cls, keys, file) or str(value) in UNLIMITED:
        return None
    if meant and meant != ".".join((*group, last)):
        path = tuple(meant.split("."))
        return path if _inside(path, value) is not value or not (
            isinstance(value, dict) and "value" not in value and len(path) > 1
            and path[0] in GROUPS) else path[:1]
    stated = file.lines if file else {}
    near = nearest_names(last, [name for name in fields if (*group, name) not in stated], 1, TYPO)
    return (*group, near[0]) if near else None


def _advice(cls: type[Entry], keys: KeyPath, file: YamlFile | None) -> str | None:
    """What to write in place of a key that is none of a kind; None without advice."""
    own, word = cls.model_fields.keys(), str(keys[-1])
    beside = file.data if file and len(keys) == 1 else None
    if "parallelism" in own and file and is_cache_format(word):
        return _cache_advice(file, word)
    if {"workload", "demand"} & own:
        return way(word, "demand" in own, beside)
    return card_way(word) if "matrix_peak" in own else None


def _cache_advice(file: YamlFile, word: str) -> str:
    """What to write in place of a format of the cache that stands beside one of weights."""
    stated = [raw for key, raw in file.data.items()
              if key == "precision" or key_meant(str(key)) == "precision"]
    weights = _meant("precisions", str(stated[0])) if stated else None
    wanted = str(file.data.get(word)).casefold()
    joint = [name for name in ((f"{weights}-c8",) if "int8" in wanted else (
        f"{weights}-fp8-cache", "fp8-block-fp8-cache")) if name in names("precisions")]
    return (f"write one precision for weights and cache, precision: {joint[0]}"
            if joint and "8" in wanted else "the precision states the cache, remove it")


def _inside(keys: KeyPath, value: Any) -> Any:
    """A number of a group that other tools have in place of a key, such as a JSON object."""
    dotted = ".".join(map(str, keys))
    return next((inner for key, inner in value.items() if key_meant(str(key)) == dotted), value
                ) if isinstance(value, dict) else value


def _key_hint(cls: type[Entry], keys: KeyPath, value: Any, file: YamlFile | None = None) -> str:
    """What to write in place of an unknown key."""
    if advice := _advice(cls, keys, file):
        return advice
    if str(value) in UNLIMITED:
        return "without it nothing limits, leave it out"
    near = _near(cls, keys, value, file)
    if near is None:
        return ("remove it, its keys belong elsewhere" if isinstance(value, dict) and value else
                f"expected one of {', '.join(fields_at(cls, keys[:-1]))}")
    *group, name = map(str, near)
    is_elsewhere = near[:-1] != keys[:-1]
    if (inner := _inside(near, value)) is not value:
        return f"write {'.'.join(group)}: {{{name}: {inner}}}"
    if isinstance(value, dict) and not _is_group(cls, near):
        titles = [inner for key, inner in value.items() if names_group(str(key))]
        return (f"write {'.'.join(map(str, near))}: {titles[0]}" if titles else
                "remove it, its keys are not in a group of this name")
    if is_elsewhere and group and file:
        return f"did you mean '{name}' under '{'.'.join(group)}'"
    at_top = " at the top level" if is_elsewhere and not group and file else ""
    return f"did you mean '{'.'.join((*group, name)) if is_elsewhere else name}'{at_top}"


def _refusal(cls: type[Entry], file: YamlFile, problem: Any, raised: Any,
             overridden: Mapping[KeyPath, str], above: tuple[str, ...]) -> tuple[int, str]:
    """Line of a mistake, 0 for that of an override, and its sentence; arguments as of
    :func:`refusals`."""
    keys = (*above, *(key for key in problem["loc"] if "[" not in str(key)))
    inside = getattr(raised, "keys", ()) or tuple(re.findall(r"^'(\w+)'", str(raised)))
    origins = [text for key, text in overridden.items() if keys[:len(key)] == key]
    if not origins:  # a rule over a group or the whole, which the file alone may keep
        at = (*keys, *inside) if keys else ()
        below = [text for key, text in overridden.items() if key[:len(at)] == at]
        origins = [", ".join(below)] if below else []
    at = (*keys, *inside) if (*keys, *inside) in file.lines else keys
    line = 0 if origins else file.line(at)
    where = origins[0] if origins else file.where(at)
    name = ".".join(str(key)[:60] for key in keys)
    match problem["type"]:
        case "extra_forbidden":
            if wide := full_width(str(keys[-1])):
                return line, f"{where}: {wide} in '{name}', write {half_width(str(keys[-1]))}."
            hint = _key_hint(cls, keys[len(above):], problem["input"], file)
            return line, f"{where}: unknown key '{name}', {hint}."
        case "missing":
            return line, f"{where}: the key '{name}' is missing{_sample(cls, keys[len(above):])}."
        case "value_error":
            message = str(raised)
        case _:
            message = _wrong_type(cls, keys[len(above):], problem)
    value = problem["input"]
    dashes = [file.lines.get((*keys, index)) for index in range(len(value))] if (
        problem["type"] == "model_type" and isinstance(value, list)) else []
    if dashes and len({line, *dashes} - {None}) > len(dashes):
        message = f"a list, expected keys: remove the dashes on lines {', '.join(map(str, dashes))}"
    if value is None and message.startswith("expected a text"):
        message += ", found nothing"
    if isinstance(value, bool) and keys in file.lines and re.search(
            "a text|the name of", message):
        word = file.word(keys, value)
        advice = f'write "{word}"' if "a text" in message else message.partition(", found")[0]
        message = f"YAML reads {word} as {str(value).lower()}: {advice}"
    elif isinstance(value, int) and message.startswith("expected a text"):
        message = f'{value} is read as a number: write "{value}"'
    written = value.get("value") if isinstance(value, dict) else value
    if isinstance(written, str) and (wide := full_width(written)):
        message = f"{wide}, write {f'{keys[-1]}: ' if keys else ''}{half_width(written)}"
    stop = "" if message.endswith("?") else "."
    return line, f"{where}: {name + ': ' if name and not origins else ''}{message}{stop}"


EXPECTED = {"list_type": "a list", "dict_type": "a group of keys", "string_type": "a text",
            "int_type": "a whole number", "int_parsing": "a whole number",
            "float_parsing": "a number", "bool_type": "true or false"}
"""Type of pydantic's error -> what was expected."""
UNSTATED = ("auto", "any", "all", "default")  # what an absent list means


def _wrong_type(cls: type[Entry], keys: KeyPath, problem: Any) -> str:
    """Message for a value that pydantic itself refuses."""
    kind, value, sample = problem["type"], problem["input"], _sample(cls, keys)
    expected = EXPECTED.get(kind)
    if kind == "model_type":
        fields = ", ".join(fields_at(cls, keys)[:3])
        expected = f"a group of keys{sample.removeprefix(',') or f' such as {fields}'}"
    message = f"expected {expected}" if expected else problem["msg"].replace(
        "Input should be", "expected").replace("greater than or equal to", "at least").replace(
        "less than or equal to", "at most")
    message = message[0].lower() + message[1:]
    message += f", found {units.shown(value)}"
    if kind == "string_type" and isinstance(value, dict):
        release = _named_release(value)
        message += f": write {keys[-1]}: {release}" if release else sample
    if kind == "literal_error":
        choices = re.findall(r"'([^']+)'", message.partition(", found")[0])
        if near := [*filter(None, [value_meant(str(value), choices)])] or nearest_names(
                str(value), choices, 1):
            message += f": write {near[0]}"
    if kind == "list_type" and isinstance(value, (str, int)) and not isinstance(value, bool):
        message += ": remove the key" if value in UNSTATED else f": write [{str(value)[:40]}]"
    return message


def _sample(cls: type[Entry], keys: KeyPath) -> str:
    """A key as the template of its kind has it, or the choices that its comment lists, for a
    message; empty where there is none."""
    kind = next((kind for kind in KINDS if class_of(kind) is cls), "")
    template = ROOT / "templates" / f"{template_of(kind)}.yml"
    if not is_file(template):
        return ""
    line = re.search(
        rf"^[ #]*({keys[-1]}:(?: [^#\n]+)?)(?:# (.+))?((?:\n#? {{2,}}\w+: [^#\n{{]+$)*)",
        template.read_text("utf-8"), re.MULTILINE)
    if line is None:
        return ""
    field = cls.model_fields.get(str(keys[0]))
    if len(keys) == 1 and field and get_origin(field.annotation) is Literal and line[2]:
        return f", expected {line[2]}"
    rows = line[3].strip().split("\n") if line[1].endswith(":") else []
    group = ", ".join(row.strip("# ") for row in rows)
    return f", such as {line[1].strip()}{f' {{{group}}}' if group else ''}"


def _other_kind(cls: type[Entry], file: YamlFile) -> str | None:
    """That a file describes an entry of another kind, and what takes it."""
    if problem := wrapped({key: raw for key, raw in file.data.items()
                           if (key,) in file.lines}):
        return problem
    expected = next((kind for kind in KINDS if class_of(kind) is cls), None)
    of = described_kind(file.data, expected) if expected else None
    if expected == "goals" and of == "scenarios" and not has_layout(file.data):
        return None
    if expected == "scenarios" and of == "goals" and not (
            class_of(of).model_fields.keys() - cls.model_fields.keys()) & file.data.keys():
        return None
    return misfit(file.name, of, expected) if of and expected and of != expected else None


def fields_at(cls: type[Entry], keys: tuple[str | int, ...]) -> list[str]:
    """Keys that an entry takes, or one of its sections."""
    for key in keys:
        field = cls.model_fields.get(str(key))
        inner = _entry_class(field.annotation) if field else None
        if inner is None:
            return sorted(Stated.model_fields)
        cls = inner
    return [name for name in cls.model_fields if name not in ("id", "defaults")]


def _entry_class(annotation: Any) -> type[Entry] | None:
    for candidate in (annotation, *get_args(annotation)):
        if isinstance(candidate, type) and issubclass(candidate, Entry):
            return candidate
    return None


def _is_quantity(annotation: Any) -> bool:
    return annotation is Value or any(_is_quantity(arg) for arg in get_args(annotation))


def _override(cls: type[Entry], data: dict[str, Any], dotted: str,
              override: Override) -> None:
    """Set one dotted key in raw data; numbers get the command line as their source."""
    *parents, last = dotted.split(".")
    given = {"value": override.raw, "source": COMMAND_LINE, "kind": "assumed"}
    target, owner = data, cls
    first = cls.model_fields.get(parents[0]) if parents else None
    if (first is not None and get_origin(first.annotation) is dict  # gemm_efficiency.fp8
            and _is_quantity(first.annotation)):
        stated = target.get(parents[0])
        target[parents[0]] = (stated if isinstance(stated, dict) else {}) | {
            dotted.partition(".")[2]: given}
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
        keys = (*parents, last)
        raise ParamsError(f"{override.origin}: unknown key '{last}', "
                          f"{_key_hint(cls, keys, override.raw)}.")
    target[last] = given if _is_quantity(field.annotation) else override.raw
