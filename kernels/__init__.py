"""Kernel models, fitted to and validated on tables of measured kernels; the runtime never imports
them."""
