"""Commands killed at moments drawn, what of them lives on or lies about; nothing is mended here."""
