no-schema =
    .en = { $where }: an editor finds no schema, expected '{ $head }' as the first line.
    .zh = { $where }：编辑器找不到 schema，首行应为 '{ $head }'。

unlisted =
    .en = { $where }: '{ $source }' are words, expected a key of params/sources/, where its address stands.
    .zh = { $where }：'{ $source }' 只是文字说明，应填 params/sources/ 中的键，地址写在那里。

no-date =
    .en = { $where }: { $keys }: a { $kind } value has no date, expected one here or at its source.
    .zh = { $where }：{ $keys }：来源类别为 { $kind } 的数值缺少日期，应在此处或其来源处注明。

no-section =
    .en = { $where }: { $keys }: of a document the section is missing.
    .zh = { $where }：{ $keys }：引自文档，但未注明章节。

no-range =
    .en = { $where }: { $keys }: an assumed value has no range.
    .zh = { $where }：{ $keys }：假设值没有给出范围。

no-weights =
    .en = { $where }: weights is missing, expected the format in which it is published.
    .zh = { $where }：缺少 weights，应注明权重以何种格式发布。

no-totals =
    .en = { $where }: nothing that its counts are held against, expected published.total_parameters or published.stored_parameters.
    .zh = { $where }：没有可供核对参数量的数，应给出 published.total_parameters 或 published.stored_parameters。

no-caches =
    .en = { $where }: nothing that its cache is held against, expected published.caches with what an engine keeps of a token.
    .zh = { $where }：缓存缺少核对依据，应给出 published.caches，即某个引擎为每个 token 保留的字节数。

no-text =
    .en = { $where }: the key '{ $key }' is missing.
    .zh = { $where }：缺少 '{ $key }'。
