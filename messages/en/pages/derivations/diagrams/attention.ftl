### Latent attention: from the hidden state to what is cached, and from there to the heads.

latent-attention = Latent attention, one token in one layer
what-is-cached = The hidden state of { $hidden } elements is projected down to a query latent of { $query } and to a latent of { $latent } with { $rotary } rotary elements beside it. Only the latter two are cached. From them { $heads } heads either expand { $expanded } elements of keys and values, or they multiply the up-projection into the query and attend to the cache itself.
hidden-state-of-token = hidden state of a token
down = down
query-latent = query latent
outputs-of-heads = outputs of the heads, { $heads } × { $value } = { $out }
projected-back-to = projected back to { $hidden }
cached = cached: { $latent } + { $rotary }
latent-rotary = latent, rotary
b-per-layer = { $layer } B per layer,
b-in-layers = { $whole } B in { $layers } layers
expanded = expanded
keys-and-values-of-heads = { $heads } keys of { $key } + { $rotary } and values of { $value }: { $expanded } elements, { $times } times the cache
used-mostly-in-prefill = used mostly in prefill
absorbed = absorbed
queries-attend-to-cache = { $heads } queries of { $latent } + { $rotary } attend to the cache itself; the up-projections multiply query and output
used-in-decode = used in decode
