### Where the documents' claims and advice on a subject stand, beside what follows of it.

documents-on-this = 文档的相关论断及结论：{ $links }。
recommended = 文档的建议
this-book-computes = 本书的计算
what-else-documents-recommend = 文档的其他建议
section-and-lines = { $section }，第 { $lines } 行
