"""What is stored comes back exactly, through every way in."""

from __future__ import annotations

import pytest

from tests.contract.manifest import promise
from tests.contract.steps import contents, exchange, refusal, say, start
from tests.support.callers import Caller

TEXTS = {
    "emoji": "🧵👩‍👩‍👧‍👦🏳️‍🌈🇺🇳 ok",
    "right to left": "שלום עולם مرحبا \u202eabc\u202c \u200f",
    "combining characters": "e\u0301 \u0061\u0323\u0307 Z\u0351\u036b\u0343 ﬁ \u212b",
    "quotes and backslashes": "' \" ` \\ \\\\ \\' '' \"\" $$ $1 %s %(x)s {x} \\n \\u0041 \\x00 ?",
    "control characters": "\x01\x02\x07\x08\x0b\x0c\x1b[31m\x1f\x7f\x85",
    "line ends": "a\nb\r\nc\rd\u2028e\u2029f\n",
    "white space around": "  \t text \n ",
    "noncharacters": "\ufeff\ufffe\uffff\ufffd\U0010ffff",
    "SQL": "'; DROP TABLE entry; -- \" OR 1=1 /* */ \\'; SELECT * FROM clew.owner",
    "JSON": '{"jsonrpc": "2.0", "id": 1, "result": null}\n',
    "markup": "<script>alert(1)</script> &amp; <!-- --> ]]>",
}


@promise("join.text.kept", "000.injection")
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
async def test_a_text_comes_back_exactly(caller: Caller, user: str, text: str) -> None:
    conversation = await start(caller, user, text)
    await exchange(caller, conversation, text, text)
    message = await say(caller, conversation, user, text)
    await caller.call("update_message", {"message_id": message, "user_id": user, "content": text + "!"})
    shown = await caller.call("list_message_revisions", {"message_id": message, "user_id": user})
    assert await contents(caller, conversation) == [text, text, text + "!"]
    assert shown["revisions"][0]["content"] == text
    assert (await caller.call("get_conversation", {"conversation_id": conversation}))["title"] == text


@promise("000.injection")
@pytest.mark.parametrize("id", ["' OR '1'='1", '" OR ""="', "x'; DROP TABLE clew.thread; --", "%", "_", "*", "\\"])
async def test_an_id_is_never_a_pattern_or_a_statement(caller: Caller, user: str, id: str) -> None:
    conversation = await start(caller, user)
    await say(caller, conversation, user)
    for tool in ("get_conversation", "fetch_chat_history"):
        with pytest.raises(Exception, match="not found"):
            await caller.call(tool, {"conversation_id": id, "user_id": user})
    assert await caller.call("list_conversations", {"user_id": user + id}) == []
    assert len(await contents(caller, conversation)) == 1


@promise("join.text")
async def test_a_nul_character_is_refused(caller: Caller, user: str) -> None:
    arguments = {"conversation_id": await start(caller, user), "role": "user", "content": "a\x00b"}
    refused = await refusal(caller, "add_message", arguments)
    assert refused.code == "invalid_params"
    assert "NUL" in refused.message
