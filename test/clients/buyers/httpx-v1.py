import asyncio

from x402.clients.httpx import x402HttpxClient

from said import account, say, say_error, urls


async def buy(url):
    # A client for each page: this one pays once in its life.
    async with x402HttpxClient(account=account) as http:
        answer = await http.get(url)
        await answer.aread()
        say(answer)


async def main():
    for url in urls:
        try:
            await buy(url)
        except Exception as error:
            say_error(error)


asyncio.run(main())
