from html import escape

from django.http import HttpRequest, HttpResponse
from django.urls import path


def article(_request: HttpRequest, slug: str) -> HttpResponse:
    return HttpResponse(f"<h1>{escape(slug)}</h1>")


urlpatterns = [path("articles/<str:slug>", article)]
