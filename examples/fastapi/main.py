from html import escape

from content_settlement.asgi import ContentSettlement
from fastapi import FastAPI
from fastapi.responses import HTMLResponse

app = FastAPI()
app.add_middleware(ContentSettlement)


@app.get("/articles/{slug}")
def article(slug: str) -> HTMLResponse:
    return HTMLResponse(f"<h1>{escape(slug)}</h1>")
