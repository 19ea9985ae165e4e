### What is counted of every model beside what is published, as tables.

all =
    .en = all
    .zh = 总量

parameters =
    .en = parameters
    .zh = 参数

counted-billions =
    .en = counted (10⁹)
    .zh = 本书计得（10⁹）

published-billions =
    .en = published (10⁹)
    .zh = 公开值（10⁹）

counted-gb =
    .en = counted (GB)
    .zh = 本书计得（GB）

published-gb =
    .en = published (GB)
    .zh = 公开值（GB）

counted-bytes =
    .en = counted (B)
    .zh = 本书计得（B）

published-bytes =
    .en = the engine's (B)
    .zh = 引擎分配（B）

repository =
    .en = repository
    .zh = 权重仓库

kept-of =
    .en = kept for
    .zh = 对象

a-token =
    .en = a token
    .zh = 每 token

a-request =
    .en = a request, whatever its length
    .zh = 每请求（与长度无关）

why =
    .en = why beyond the tolerance
    .zh = 超限原因

digits-printed =
    .en = No more digits are printed.
    .zh = 公开值只给到这一位。

not-published =
    .en = The engine prints none.
    .zh = 引擎未给出。

bars =
    .en = Tolerances: parameters { $parameters }, bytes of a checkpoint { $bytes }, cache of a token { $token }, state of a request { $request }. A larger difference has its reason beside it.
    .zh = 允许的差异：参数量 { $parameters }，权重文件 { $bytes }，每 token 缓存 { $token }，每请求状态 { $request }。超出者均注明原因。
