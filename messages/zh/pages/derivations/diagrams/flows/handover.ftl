### A prompt through two pools: its prefill, the transfer of its cache, its decode, in time.

prompt-through-pools = 一条 prompt 经过两个资源池
course-of-prompt = 预填充池计算 prompt 用 { $prefill }，缓存经网络传输用 { $sent }。其间解码步照常进行，每步 { $step }；请求在开始后 { $joins } 加入解码。
tokens-and-requests = 输入 { $tokens } token，{ $requests } 个请求在解码
prefill-pool = 预填充池：{ $time }，然后是下一条 prompt
transfer = 传输 KV 缓存：{ $time }
decode-pool = 解码池：每步 { $time }，不被打断
filled-and-outlined = 实心：本请求；空心：只有其他请求
seconds-from-start = 自预填充开始的秒数
