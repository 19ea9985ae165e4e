"""What `deploy` writes, in a real engine: started, measured, watched; nothing else imports it."""
