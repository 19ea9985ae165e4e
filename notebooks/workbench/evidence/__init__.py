"""How measured values are shown beside predictions: tables and pictures of errors."""
