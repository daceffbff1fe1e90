"""Whether an installation works: records an interaction in a new SQLite file, and reads it back."""

from __future__ import annotations

import asyncio
import sys
import tempfile

import clew


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        async with clew.connect(f"sqlite:///{folder}/clew.db") as memory:
            conversation_id = (await memory.create_conversation())["conversation_id"]
            await memory.record_interaction(
                conversation_id=conversation_id, user_message="Which thread?", assistant_response="Ariadne's."
            )
            history = await memory.fetch_chat_history(conversation_id=conversation_id)
    said = [message["content"] for message in history["messages"]]
    if said != ["Which thread?", "Ariadne's."]:
        sys.exit(f"What was recorded did not come back: {said}")
    print(f"Clew {clew.__version__} on Python {sys.version.split()[0]}: recorded, and read back")


asyncio.run(main())
