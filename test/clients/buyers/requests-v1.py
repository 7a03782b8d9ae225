from x402.clients.requests import x402_requests

from said import account, say, url

say(x402_requests(account).get(url))
