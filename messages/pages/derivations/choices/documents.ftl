### Where the documents' claims and advice on a subject stand, beside what follows of it.

documents-on-this =
    .en = The documents' claims about this, with verdicts: { $links }.
    .zh = 文档的相关论断及结论：{ $links }。

recommended =
    .en = recommended
    .zh = 文档的建议

this-book-computes =
    .en = this book computes
    .zh = 本书的计算

what-else-documents-recommend =
    .en = What else the documents recommend
    .zh = 文档的其他建议

section-and-lines =
    .en = { $section }, { $count ->
        [one] line
       *[other] lines
    } { $lines }
    .zh = { $section }，第 { $lines } 行
