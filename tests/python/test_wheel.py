"""The wheel of this build: named right, listed right, and enough by itself."""

import base64
import hashlib
import os
import pathlib
import subprocess
import sys
import zipfile

from support import ROOT, SCALE, InFolder, main

sys.path.insert(0, str(ROOT / "python" / "kw_build"))
import kw_build

BUILD = pathlib.Path(os.environ["KW_BUILD"])
USE = ("import array, sys; sys.path.insert(0, sys.argv[1]); import kernelwright\n"
       "print(kernelwright.__file__, kernelwright.Kernel(sys.argv[2])(array.array('f', [1, 2])).tolist())")


class Wheel(InFolder):
    def test_wheel(self):
        name = kw_build.make_wheel(BUILD, self.folder, level=1)
        self.assertEqual(name, f"kernelwright-{kw_build.project()['version']}-py3-none-manylinux_2_34_x86_64.whl")
        with zipfile.ZipFile(self.folder / name) as wheel:
            self.check_record(wheel)
            for info in wheel.infolist():
                path = pathlib.Path(wheel.extract(info, self.folder / "site"))
                path.chmod(info.external_attr >> 16 & 0o777 or 0o644)
        self.check_use(self.folder / "site")

    def check_record(self, wheel):
        folder = next(name for name in wheel.namelist() if name.endswith("/RECORD"))
        listed = {}
        for line in wheel.read(folder).decode().splitlines():
            name, digest, _ = line.rsplit(",", 2)
            listed[name] = digest
        self.assertEqual(set(listed), set(wheel.namelist()))
        for name, digest in listed.items():
            if digest:
                wanted = base64.urlsafe_b64encode(hashlib.sha256(wheel.read(name)).digest()).rstrip(b"=").decode()
                self.assertEqual(digest, f"sha256={wanted}", name)
        mode = wheel.getinfo("kernelwright/_native/kernelwright").external_attr >> 16
        self.assertTrue(mode & 0o100)
        self.assertIn("kernelwright/py.typed", listed)
        self.assertIn("kernelwright/__init__.pyi", listed)
        about = wheel.read(folder.replace("RECORD", "METADATA")).decode()
        self.assertIn("\nRequires-Python: >=3.10\n", about)

    def check_use(self, site):
        environment = {key: value for key, value in os.environ.items()
                       if key not in ("PYTHONPATH", "KERNELWRIGHT_LIBRARY", "KW_BUILD")}
        said = subprocess.run([sys.executable, "-I", "-c", USE, str(site), SCALE], env=environment, text=True,
                              capture_output=True)
        self.assertEqual(said.stdout.split(" ", 1)[1:], ["[2.0, 4.0]\n"], said.stderr)
        self.assertTrue(said.stdout.startswith(str(site)))
        version = subprocess.run([sys.executable, "-m", "kernelwright", "--version"], cwd=site, env=environment,
                                 text=True, capture_output=True)
        self.assertIn(kw_build.project()["version"], version.stdout, version.stderr)

    def test_build_folder_without_a_library(self):
        with self.assertRaisesRegex(SystemExit, "kernelwright is missing; build the targets"):
            kw_build.make_wheel(self.folder, self.folder)

    def test_sources(self):
        import tarfile

        name = kw_build.build_sdist(str(self.folder))
        with tarfile.open(self.folder / name) as archive:
            names = archive.getnames()
        stem = name.removesuffix(".tar.gz")
        for wanted in ("pyproject.toml", "CMakeLists.txt", "src/apps/clib/api.cpp", "python/kernelwright/api.py"):
            self.assertIn(f"{stem}/{wanted}", names)


if __name__ == "__main__":
    main()
