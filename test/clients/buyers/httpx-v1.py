import asyncio

from x402.clients.httpx import x402HttpxClient

from said import account, say, url


async def main():
    async with x402HttpxClient(account=account) as http:
        answer = await http.get(url)
        await answer.aread()
        say(answer)


asyncio.run(main())
