"""What one step of one device reads, multiplies, sends and holds; no request, no queue."""
