#!/usr/bin/env python3
"""Sends an Alimtalk to a seller whose turn is near, by NHN Cloud's KakaoTalk Bizmessage API v2.3.

waitroom sends the event place.near (WAITROOM_WEBHOOK_NEAR=3) to PORT. The settings are those of the provider's
console: NHN_APPKEY, NHN_SECRET_KEY, NHN_SENDER_KEY, and NHN_TEMPLATE, the code of an approved template such as
"#{ahead}명 뒤 차례예요. 화면으로 돌아와 주세요." PHONES is a JSON file of seller ids and numbers, in place of your
database. Python 3.9 or newer, and nothing else.
"""

import json
import os
import urllib.request
from pathlib import Path

import receiver

API = os.environ.get("NHN_URL", "https://kakaotalk-bizmessage.api.nhncloudservice.com")
sent = set()  # ids of events; keep them in your database


def alimtalk(number, ahead, key):
    """Sends a message. A request that is sent again within 10 minutes with the same key sends no second one."""
    body = {"senderKey": os.environ["NHN_SENDER_KEY"], "templateCode": os.environ["NHN_TEMPLATE"],
            "recipientList": [{"recipientNo": number, "templateParameter": {"ahead": str(ahead)}}]}
    request = urllib.request.Request(
        f"{API}/alimtalk/v2.3/appkeys/{os.environ['NHN_APPKEY']}/messages", json.dumps(body).encode(),
        {"Content-Type": "application/json;charset=UTF-8", "X-Secret-Key": os.environ["NHN_SECRET_KEY"],
         "X-NC-API-IDEMPOTENCY-KEY": key})
    with urllib.request.urlopen(request, timeout=5) as response:
        answer = json.load(response)
    # The provider answers 200 also where it refuses; each recipient has a result of its own.
    results = [answer["header"]] + ((answer.get("message") or {}).get("sendResults") or [])
    for result in results:
        if result["resultCode"] != 0:
            raise OSError(f"the provider refuses: {result['resultCode']} {result['resultMessage']}")


class Alimtalk(receiver.Receiver):
    @staticmethod
    def handle_event(event, webhook_id):
        if event["type"] != "place.near" or webhook_id in sent:
            return
        number = json.loads(Path(os.environ["PHONES"]).read_text()).get(event["data"]["seller_id"])
        if number:
            alimtalk(number, event["data"]["queue_position"] - 1, webhook_id)
            print("sent", webhook_id, flush=True)
        sent.add(webhook_id)


if __name__ == "__main__":
    receiver.serve(Alimtalk)
