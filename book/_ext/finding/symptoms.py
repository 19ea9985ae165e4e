"""What a query asks besides its words: which symptoms it describes, which cards it names.

Symptoms, synonyms and words that carry nothing are data, in ``params/symptoms.yml``; the cards are
the pages of the catalogue's devices.
"""

from __future__ import annotations

import re
from collections.abc import Container, Mapping, Sequence
from typing import Any

from .documents import Document

FILE = "symptoms.yml"
COMPARED = "matrix-r1"  # where any two cards stand side by side
HOST = "host"  # type of a device that is no card
NUMBERED = re.compile(r"[A-Za-z]*\d[A-Za-z0-9-]*")
SHORT = 3  # a shorter number is no name by itself: "Gaudi 3"
LATIN = re.compile(r"[A-Za-z0-9]")
EDGE = r"[a-z0-9_{}-]"  # beside it no word ends: "gpu-memory-utilization" is one
CARD = "{card}"  # in a variant: any card; in an answer: the page of each that is named


def pieces(variant: str, same: Sequence[Sequence[str]], ignored: Container[str]
           ) -> list[str | int]:
    """What has to stand in a query, in any order: words, and places of synonyms in their list.

    A list of which a variant has two words asks for two in the query.

    >>> pieces("CUDA runs out of memory", [["OOM", "out of memory"]], ["runs"])
    [0, 'cuda']
    >>> pieces("FP8 or INT8", [["FP8", "INT8"]], ["or"])
    [0, 0]
    """
    text, found = variant.lower(), list[int]()
    known = sorted(((word.lower(), place) for place, words in enumerate(same) for word in words),
                   key=lambda pair: -len(pair[0]))
    for word, place in known:
        begin, end = (EDGE if LATIN.match(sign) else "" for sign in (word[0], word[-1]))
        text, times = re.subn(rf"{begin and '(?<!' + EDGE + ')'}{re.escape(word)}"
                              rf"{end and '(?!' + EDGE + ')'}", " ", text)
        found += [place] * times
    return [*found, *(word for word in text.split() if word not in ignored)]


def card_names(title: str) -> list[str]:
    """What people call a card: 'NVIDIA GeForce RTX 4090 D' is '4090 D', '4090D', '4090'."""
    found = NUMBERED.search(title)
    if not found:
        return []
    number = found[0]
    if len(number) < SHORT:
        return [" ".join(title[:found.end()].split()[-2:])]
    rest = re.match(r" (?:D|\d+ GB)\b", title[found.end():])
    more = rest[0].strip() if rest else ""
    close = more.replace(" ", "")
    return list(dict.fromkeys([f"{number} {more}", f"{number} {close}", f"{number}{close}", number]
                              if more else [number]))


def of_index(found: Sequence[Document], said: Mapping[str, Any],
             devices: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """What the browser gets besides the documents, which it names by their places in the index."""
    places = {label_of(document): place for place, document in reversed(list(enumerate(found)))
              if document.kind not in ("term", "letter", "claim")}
    same = said.get("same", [])
    ignored = {kind: [word.lower() for word in words]
               for kind, words in said.get("ignored", {}).items()}
    filler = ignored.get("filler", [])
    symptoms = []
    for symptom in said.get("symptoms", {}).values():
        answers = [label if label == CARD else places[label] for label in symptom["at"]
                   if label == CARD or label in places]
        variants = [pieces(variant, same, filler)
                    for lang in ("en", "zh") for variant in symptom.get(lang, ())]
        symptoms.append([variants, answers])
    cards = [[card_names(document.title), place] for place, document in enumerate(found)
             if document.kind == "device"
             and devices.get(label_of(document), {}).get("type") != HOST]
    return {"same": [[word.lower() for word in words] for words in same], "ignored": ignored,
            "symptoms": symptoms, "cards": [each for each in cards if each[0]],
            "compared": [places[COMPARED]] if COMPARED in places else []}


def label_of(document: Document) -> str:
    """The label of a page or section, which is the same in both languages."""
    page, _, anchor = document.address.partition(".html#")
    return anchor or page.removesuffix(".html").rpartition("/")[2]
