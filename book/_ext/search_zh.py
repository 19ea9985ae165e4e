"""Chinese full-text search without a dictionary: a text is indexed by pairs of characters.

张量并行 becomes 张量, 量并, 并行, and so does the query in the browser, so that any run of two or
more characters is found wherever it stands in a sentence. Single characters are indexed too.
Latin words and numbers are treated as in English.
"""

from __future__ import annotations

import re

import snowballstemmer
from sphinx.search import SearchLanguage
from sphinx.search.en import js_porter_stemmer

HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
RUN = re.compile(rf"(?P<han>[{HAN}]+)|[0-9A-Za-z_]+")

SPLIT_QUERY = r"""
function splitQuery(query) {
    const terms = [];
    for (const run of query.match(/[HAN]+|[0-9A-Za-z_]+/g) || []) {
        if (!/^[HAN]/.test(run) || run.length === 1) { terms.push(run); continue; }
        for (let i = 0; i + 1 < run.length; i++) terms.push(run.slice(i, i + 2));
    }
    return terms;
}
""".replace("HAN", HAN.encode("unicode_escape").decode())


def bigrams(run: str) -> list[str]:
    """Split a run of Chinese characters into its pairs: '张量并' gives 张量, 量并."""
    return [run[i:i + 2] for i in range(len(run) - 1)]


class SearchChineseBigrams(SearchLanguage):
    """The index of the Chinese pages, and its counterpart in the browser."""

    lang = "zh"
    language_name = "Chinese"
    js_stemmer_code = js_porter_stemmer
    js_splitter_code = SPLIT_QUERY

    def init(self, options: dict[str, str]) -> None:
        """Prepare the stemmer of Latin words."""
        self.stemmer = snowballstemmer.stemmer("porter")

    def split(self, input: str) -> list[str]:
        """Split a text into the terms to index."""
        terms: list[str] = []
        for match in RUN.finditer(input):
            run = match.group()
            terms += [*run, *bigrams(run)] if match["han"] else [run]
        return terms

    def word_filter(self, word: str) -> bool:
        """Keep every term but single Latin letters and digits."""
        return len(word) > 1 or word > "\u00ff"

    def stem(self, word: str) -> str:
        """Reduce a Latin word to its stem; a term of Chinese characters is one."""
        return self.stemmer.stemWord(word.lower()) if word.isascii() else word
