"""Laws of operators held against tables of measured kernels: fitted and judged; no step."""
