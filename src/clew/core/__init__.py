"""Pure rules: no input, no output, no clock. What is here can be tested without a database."""
