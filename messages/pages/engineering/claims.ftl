### What the documents say of a chapter's subject, beside ours: rows of the audit, folded.

claims-of-documents =
    .en = The claims of the documents
    .zh = 文档中的论断
