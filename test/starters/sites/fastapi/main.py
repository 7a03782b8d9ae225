from html import escape

from fastapi import FastAPI
from fastapi.responses import HTMLResponse

app = FastAPI()


@app.get("/articles/{slug}")
def article(slug: str) -> HTMLResponse:
    return HTMLResponse(f"<h1>{escape(slug)}</h1>")
