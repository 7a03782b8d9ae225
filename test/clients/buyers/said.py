"""What every Python program of this folder prints: one line of JSON that says what came of the purchase."""

import json
import os
import sys

from eth_account import Account

url = sys.argv[1]
account = Account.from_key(os.environ["BUYER_PRIVATE_KEY"])


def say(answer):
    receipt = answer.headers.get("payment-response") or answer.headers.get("x-payment-response")
    print(json.dumps({"status": answer.status_code, "page": answer.text, "receipt": receipt}))
