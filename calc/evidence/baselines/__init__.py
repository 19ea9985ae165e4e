"""What predictions are held beside: rooflines, and less than all terms; nothing is set here."""
