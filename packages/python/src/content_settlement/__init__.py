"""Sells a site's pages to AI agents: people and search engines read as before, an agent pays every author of the page.

    from content_settlement.asgi import ContentSettlement   # FastAPI, Starlette, Django under ASGI
    from content_settlement.wsgi import ContentSettlement   # Flask, Django under WSGI
"""

from .gate import Gate, Options

__all__ = ["Gate", "Options"]
__version__ = "0.1.0"
