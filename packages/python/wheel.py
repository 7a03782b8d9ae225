"""`python3 wheel.py <folder>`: the wheel of this package, the same bytes each time. It is made of text alone, so that nothing has to be built and no
package is needed; every file has the time of SOURCE_DATE_EPOCH. `pip install .` works as well."""

import base64
import hashlib
import os
import re
import sys
import time
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROJECT = (HERE / "pyproject.toml").read_text("utf-8")


def member(name: str) -> str:
    """A text of the project's table."""
    found = re.search(rf'^{name} = "(.*)"$', PROJECT, re.MULTILINE)
    if found is None:
        raise SystemExit(f"pyproject.toml has no {name}")
    return found[1]


def main(folder: str) -> None:
    name, version = member("name").replace("-", "_"), member("version")
    info = f"{name}-{version}.dist-info"
    metadata = [
        "Metadata-Version: 2.1",
        f"Name: {member('name')}",
        f"Version: {version}",
        f"Summary: {member('description')}",
        "License: Apache-2.0",
        f"Requires-Python: {member('requires-python')}",
        *(f"Classifier: {one}" for one in re.findall(r'^  "(.* :: .*)",$', PROJECT, re.MULTILINE)),
        "Description-Content-Type: text/markdown",
        "",
        (HERE / "README.md").read_text("utf-8"),
    ]
    source = HERE / "src"
    packaged = sorted(path for path in (source / name).rglob("*") if path.suffix in (".py", ".json", ".typed"))
    files = {path.relative_to(source).as_posix(): path.read_bytes() for path in packaged}
    files[f"{info}/LICENSE"] = (HERE / "LICENSE").read_bytes()
    files[f"{info}/METADATA"] = "\n".join(metadata).encode()
    files[f"{info}/WHEEL"] = b"Wheel-Version: 1.0\nGenerator: wheel.py\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    rows = [f"{path},sha256={digest(body)},{len(body)}" for path, body in files.items()]
    files[f"{info}/RECORD"] = "\n".join([*rows, f"{info}/RECORD,,", ""]).encode()
    # A zip knows no time before 1980.
    at = time.gmtime(max(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), 315_532_800))[:6]
    with zipfile.ZipFile(Path(folder) / f"{name}-{version}-py3-none-any.whl", "w", zipfile.ZIP_STORED) as wheel:
        for path, body in files.items():
            entry = zipfile.ZipInfo(path, at)
            entry.external_attr = 0o644 << 16
            wheel.writestr(entry, body)


def digest(body: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(body).digest()).rstrip(b"=").decode()


main(sys.argv[1])
