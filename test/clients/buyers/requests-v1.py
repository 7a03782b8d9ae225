from x402.clients.requests import x402_requests

from said import account, say, say_error, urls

for url in urls:
    try:
        # A session for each page: this one asks the next one after a payment without paying.
        say(x402_requests(account).get(url))
    except Exception as error:
        say_error(error)
