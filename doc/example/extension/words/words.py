"""Counts words: a tool, a command, and a state that is kept in the session's log."""
import json
import sys

waiting = {}  # What we asked, by id: what to do with the answer.
next_id = 1


def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def ask(method, params, then):
    global next_id
    waiting[next_id] = then
    send({"id": next_id, "method": method, "params": params})
    next_id += 1


def answer(message, result):
    send({"id": message["id"], "result": result})


def count(message):
    words = len(message["params"]["input"]["text"].split())
    ask("append", {"kind": "count", "data": {"words": words}}, lambda _: None)
    ask("message", {"kind": "counted", "data": {"words": words}}, lambda _: None)
    answer(message, {"content": str(words)})


def command(message):
    def told(kept):
        total = sum(one["words"] for one in kept or [])
        answer(message, {"text": f"{total} words were counted"})

    ask("read", {"kind": "count"}, told)


def convert(message):
    answer(message, {"text": f"The user is pleased that {message['params']['data']['words']} words were counted."})


METHODS = {
    "activate": lambda message: answer(message, None),
    "deactivate": lambda message: answer(message, None),
    "tool": count,
    "command": command,
    "convertToLlm": convert,
    "event": lambda message: None,
}

for line in sys.stdin:
    received = json.loads(line)
    if "method" in received:
        METHODS[received["method"]](received)
    else:
        waiting.pop(received["id"], lambda _: None)(received.get("result"))
