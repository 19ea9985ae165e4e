"""What every notebook stands on: symbols, formula trees, checks, bilingual display, figures."""
