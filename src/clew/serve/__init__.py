"""The ways in over a wire. Transports turn bytes into a call and an answer into bytes; they know no rules."""
