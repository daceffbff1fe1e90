"""Conversations and their messages, the same on both engines."""

from __future__ import annotations

import clew


async def test_an_exchange_is_fetched_in_order(memory: clew.Memory) -> None:
    made = await memory.create_conversation(user_id="alice", title="Plans")
    for n in range(3):
        await memory.record_interaction(
            conversation_id=made["id"], user_message=f"question {n}", assistant_response=f"answer {n}"
        )
    history = await memory.fetch_chat_history(conversation_id=made["id"], limit=4)
    assert [m["content"] for m in history["messages"]] == ["question 1", "answer 1", "question 2", "answer 2"]
    assert history["message_count"] == 4
