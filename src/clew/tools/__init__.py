"""What callers can ask for: names, documentation, arguments and answer shapes. No logic.

A tool is declared once, as a function, and served everywhere from that declaration.
"""
