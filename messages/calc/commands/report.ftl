### ``report``: the page that the book has of a deployment, as one HTML file; made by the book.

help-device =
    .en = another device for the same deployment: an identifier or a path
    .zh = 同一部署换用另一设备：标识或路径

help-lang =
    .en = en or zh; en by default
    .zh = 页面语言，en 或 zh；缺省 en

help-out =
    .en = the HTML file to write; report.html by default
    .zh = 写出的 HTML 文件；缺省 report.html

help-book =
    .en = address or folder of a built book, for links into it
    .zh = 已构建的书的地址或目录，供链接使用

not-made =
    .en = { $scenario }: the page could not be made: { $why }.
    .zh = { $scenario }：页面未能生成：{ $why }。

no-reason =
    .en = no reason
    .zh = 原因不明
