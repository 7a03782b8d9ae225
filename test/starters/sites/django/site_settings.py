import secrets

SECRET_KEY = secrets.token_hex(32)
ALLOWED_HOSTS = ["*"]
ROOT_URLCONF = "urls"
MIDDLEWARE = ["django.middleware.common.CommonMiddleware", "django.middleware.gzip.GZipMiddleware"]
