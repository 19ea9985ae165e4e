"""What the runtime is held against, found another way: rows, queues, steps in time; no test."""
