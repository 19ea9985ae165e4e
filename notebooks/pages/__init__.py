"""What pages say, a room per part of the book; no formula, no reading of files."""
