"""What released programs gave on small cases, played here and compared."""
