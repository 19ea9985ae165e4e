"""Programs that work on the built site: print it, pack it; nothing else imports them."""
