### The page of one document: what of it can be used, what is wrong and why, every claim.

what-goes-wrong = what goes wrong
consequence = it leads to
largest-error = largest error
such-as = such as
what-is-missing = what is missing
by-what-is-missing = By what is missing
what-and-why = what, and why
off-by = off by
claims-of-document = claims of the document
