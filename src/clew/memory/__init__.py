"""What memory can do. Each operation is an async function: a transaction, whose data, and what is wanted.

Operations hold the rules that need the store. They know nothing of transports, and await nothing but their
transaction, so that both engines can run them.
"""
