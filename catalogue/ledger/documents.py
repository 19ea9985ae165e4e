"""What a file of ``params/documents/`` may hold: one of the documents that are audited."""

from __future__ import annotations

from catalogue.entries.entry import Named
from catalogue.reading.values import Text, Words


class Document(Named):
    """A document.

    Attributes:
        name: its title here.
        written: its own title, as it stands there.
        subject: what it is about and for whom, in a sentence.
        ledger: what its claims begin with, ``S0``.
    """

    written: Words
    subject: Text
    ledger: Words
