import asyncio

from x402 import x402Client
from x402.http.clients import x402HttpxClient
from x402.mechanisms.evm import EthAccountSigner
from x402.mechanisms.evm.exact import register_exact_evm_client

from said import account, say, say_error, urls


async def main():
    client = x402Client()
    register_exact_evm_client(client, EthAccountSigner(account))
    async with x402HttpxClient(client, timeout=60) as http:
        for url in urls:
            try:
                answer = await http.get(url)
                await answer.aread()
                say(answer)
            except Exception as error:
                say_error(error)


asyncio.run(main())
