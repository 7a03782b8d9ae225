from x402 import x402ClientSync
from x402.http.clients import x402_requests
from x402.mechanisms.evm import EthAccountSigner
from x402.mechanisms.evm.exact import register_exact_evm_client

from said import account, say, say_error, urls

client = x402ClientSync()
register_exact_evm_client(client, EthAccountSigner(account))
session = x402_requests(client)
for url in urls:
    try:
        say(session.get(url))
    except Exception as error:
        say_error(error)
