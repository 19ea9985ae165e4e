"""The book's standard questions: the load, the drafts and the prices that every page starts from."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

from pydantic import field_validator

from catalogue.entries.entry import Entry, ModelName
from catalogue.library import load
from catalogue.planning.goals import Demand, DegreeOrZero, Part, Tokens, Users
from catalogue.planning.prices import Ownership
from catalogue.reading import yamlfile
from catalogue.reading.entry import entry_of
from catalogue.reading.record import ROOT, record
from catalogue.reading.values import Identifier
