### What would run instead of a deployment that does not, as the runtime found it by trying.

its-own-precision = its own precision
any-precision = any precision
as-it-is = as it is
best-in = best in
spare = spare
cards-instead-of = { $devices } cards instead of { $devices_before }
cut = layout { $new }
redundant-experts = { $spares } redundant experts
requests-at-once-instead-of = { $after } requests at once instead of { $before }
context-of-tokens-instead-of = context of { $after } tokens instead of { $before }
prompt-chunks-of-tokens-instead = prompt chunks of { $after } tokens instead of { $before }
filled-with-all-requests-that = Filled with all the { $most } requests that fit, it would give **{ $rate }** ({ $reach }), a token every { $pace } to each.
