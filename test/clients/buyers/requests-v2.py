from x402 import x402ClientSync
from x402.http.clients import x402_requests
from x402.mechanisms.evm import EthAccountSigner
from x402.mechanisms.evm.exact import register_exact_evm_client

from said import account, say, url

client = x402ClientSync()
register_exact_evm_client(client, EthAccountSigner(account))
say(x402_requests(client).get(url))
