"""What the project takes of others: versions, licences; nothing of it is installed here."""
