import os

from content_settlement.wsgi import ContentSettlement
from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "site_settings")
application = ContentSettlement(get_wsgi_application())
