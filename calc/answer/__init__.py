"""Answers for one deployment: estimate, nearest change, users, pools; nothing is searched."""
