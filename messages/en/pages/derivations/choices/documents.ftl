### Where the documents' claims and advice on a subject stand, beside what follows of it.

documents-on-this = The documents' claims about this, with verdicts: { $links }.
recommended = recommended
this-book-computes = this book computes
what-else-documents-recommend = What else the documents recommend
section-and-lines =
    { $section }, { $count ->
        [one] line
       *[other] lines
    } { $lines }
