"""Two engines behind one interface. Knows SQL, knows no domain."""
