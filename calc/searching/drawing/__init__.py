"""What deployments come to in draws of all that is known within ranges only; nothing is ranked."""
