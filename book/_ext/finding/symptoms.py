"""What a query asks besides its words: which symptoms it describes, which cards it names.

Symptoms, synonyms and words that carry nothing are data, in ``params/symptoms.yml``; the cards are
the pages of the catalogue's devices.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from .search_documents import Document, label_of

FILE = "symptoms.yml"
COMPARED = "matrix-r1"  # where any two cards stand side by side
IGNORED = ("names", "questions", "filler", "common")  # kinds of words that tell nothing
HOST = "host"  # type of a device that is no card
NUMBERED = re.compile(r"[A-Za-z]*\d[A-Za-z0-9-]*")
SHORT = 3  # a shorter number is no name by itself: "Gaudi 3"
LATIN = re.compile(r"[A-Za-z0-9]")
EDGE = r"[a-z0-9_{}-]"  # beside it no word ends: "gpu-memory-utilization" is one
CARD = "{card}"  # in a variant: any card; in an answer: the page of each that is named


class Synonyms(NamedTuple):
    """What finds words that mean the same, and for each word its list's place among the lists."""

    pattern: re.Pattern[str]
    places: Mapping[str, int]


def synonyms(same: Iterable[Iterable[str]]) -> Synonyms:
    """Lists of words that mean the same, made ready to be found; the longest word wins."""
    places = {word.lower(): index for index, words in enumerate(same) for word in words}

    def sought(word: str) -> str:
        begin = f"(?<!{EDGE})" if LATIN.match(word[0]) else ""
        return begin + re.escape(word) + (f"(?!{EDGE})" if LATIN.match(word[-1]) else "")
    longest = sorted(places, key=len, reverse=True)
    return Synonyms(re.compile("|".join(map(sought, longest)) or "(?!)"), places)


def pieces(variant: str, same: Synonyms, ignored: Container[str]) -> list[str | int]:
    """What has to stand in a query, in any order: words, and places of lists of synonyms.

    A list of which a variant has two words asks for two in the query.

    >>> pieces("CUDA runs out of memory", synonyms([["OOM", "out of memory"]]), ["runs"])
    [0, 'cuda']
    >>> pieces("FP8 or INT8", synonyms([["FP8", "INT8"]]), ["or"])
    [0, 0]
    """
    text = variant.lower()
    matches = [same.places[word[0]] for word in same.pattern.finditer(text)]
    return [*matches, *(word for word in same.pattern.sub(" ", text).split()
                      if word not in ignored)]


def card_names(title: str) -> list[str]:
    """What people call a card: 'NVIDIA GeForce RTX 4090 D' is '4090 D', '4090D', '4090'."""
    match = NUMBERED.search(title)
    if not match:
        return []
    number = match[0]
    if len(number) < SHORT:
        return [" ".join(title[:match.end()].split()[-2:])]
    rest = re.match(r" (?:D|\d+ GB)\b", title[match.end():])
    more = rest[0].strip() if rest else ""
    close = more.replace(" ", "")
    return list(dict.fromkeys([f"{number} {more}", f"{number} {close}", f"{number}{close}", number]
                              if more else [number]))


def of_index(indexed: Sequence[Document], data: Mapping[str, Any],
             devices: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """What the browser gets besides the documents, which it names by their places in the index."""
    places = {label_of(document): index for index, document in reversed(list(enumerate(indexed)))
              if document.kind not in ("term", "letter", "claim")}
    same = [[word.lower() for word in words] for words in data.get("same", {}).values()]
    same_words = synonyms(same)
    ignored = {kind: [word.lower() for word in data.get("ignored", {}).get(kind, ())]
               for kind in IGNORED}
    symptoms = []
    for symptom in data.get("symptoms", {}).values():
        answers = [label if label == CARD else places[label] for label in symptom["at"]
                   if label == CARD or label in places]
        variants = [pieces(variant, same_words, ignored["filler"])
                    for lang in ("en", "zh") for variant in symptom.get(lang, ())]
        symptoms.append([variants, answers])
    cards = [[card_names(document.title), index] for index, document in enumerate(indexed)
             if document.kind == "device"
             and devices.get(label_of(document), {}).get("type") != HOST]
    faults = [index for index, name in enumerate(data.get("same", {}))
              if name in data.get("faults", ())]
    return {"same": same, "ignored": ignored, "faults": faults,
            "symptoms": symptoms, "cards": [card for card in cards if card[0]],
            "compared": [places[COMPARED]] if COMPARED in places else []}
