import asyncio
import json
import os
import sys

import httpx
from supertab_connect import obtain_license_token


async def read(url):
    token = await obtain_license_token(
        client_id=os.environ["OLP_CLIENT_ID"],
        client_secret=os.environ["OLP_CLIENT_SECRET"],
        resource_url=url,
        usage="ai-input",
    )
    headers = {"user-agent": "GPTBot/1.3"}
    if token is not None:
        headers["authorization"] = f"License {token}"
    async with httpx.AsyncClient() as http:
        answer = await http.get(url, headers=headers)
    return {"status": answer.status_code, "page": answer.text, "receipt": token}


async def main():
    for url in sys.argv[1:]:
        try:
            print(json.dumps(await read(url)))
        except Exception as error:
            print(json.dumps({"status": 0, "page": repr(error), "receipt": None}))


asyncio.run(main())
