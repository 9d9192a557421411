"""Downloads single files of a wheel: `part.py REQUIREMENT FOLDER FILE..`.

pip reads a wheel's table of contents and members by ranges of bytes, as it does for metadata. A server without ranges, or a
pip whose reader has moved, costs a download of the whole wheel.
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import zipfile

requirement, target, *names = sys.argv[1:]
pip = [sys.executable, "-m", "pip"]
options = ["--quiet", "--no-deps", "--only-binary=:all:", "--disable-pip-version-check"]


def by_ranges():
    from pip._internal.network.lazy_wheel import LazyZipOverHTTP
    from pip._internal.network.session import PipSession

    report = ["install", "--dry-run", "--ignore-installed", "--report", "-", *options, requirement]
    found = json.loads(subprocess.run(pip + report, check=True, stdout=subprocess.PIPE).stdout)
    return LazyZipOverHTTP(found["install"][0]["download_info"]["url"], PipSession())


def whole(folder):
    subprocess.run([*pip, "download", *options, "--dest", folder, requirement], check=True)
    return next(pathlib.Path(folder).glob("*.whl"))


def extract(wheel):
    with zipfile.ZipFile(wheel) as archive:
        for name in names:
            archive.extract(name, target)


try:
    extract(by_ranges())
except Exception as error:
    print(f"downloading all of {requirement}, since no part can be had by itself: {error!r}", file=sys.stderr)
    with tempfile.TemporaryDirectory() as folder:
        extract(whole(folder))
