### What the documents say of a chapter's subject, beside ours: rows of the audit, folded.

claims-of-documents =
    .en = The claims of the documents
    .zh = 文档中的论断

infeasible-speeds =
    .en = *Infeasible*: as printed, the deployment does not fit its cards or does not start; a speed beside it is what the layout would reach if it did.
    .zh = “部署不可行”：照原文放不下或无法启动；同一行的速度按假定能够运行计算。

verdict =
    .en = [verdict](#audit-verdicts)
    .zh = [结论](#audit-verdicts)
