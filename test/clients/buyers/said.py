"""What every Python program of this folder is given: the key that pays, and the pages to buy; and what it prints, one line of JSON for each."""

import json
import os
import sys

from eth_account import Account

urls = sys.argv[1:]
account = Account.from_key(os.environ["BUYER_PRIVATE_KEY"])


def say(answer):
    receipt = answer.headers.get("payment-response") or answer.headers.get("x-payment-response")
    print(json.dumps({"status": answer.status_code, "page": answer.text, "receipt": receipt}))


def say_error(error):
    print(json.dumps({"status": 0, "page": repr(error), "receipt": None}))
