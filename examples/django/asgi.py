import os

from content_settlement.asgi import ContentSettlement
from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "site_settings")
application = ContentSettlement(get_asgi_application())
