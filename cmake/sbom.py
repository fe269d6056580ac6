#!/usr/bin/env python3
"""A list of what brio is made of, as SPDX 2.3 in JSON:  sbom.py SOURCE_DIR PROGRAM FILE [--check]

Shared libraries come from what the program and the libraries that it loads later name, with the
versions of their Debian packages; packages of the report and the page from their lock files.
Licences stand here, as in docs/dependencies.md. --check: fails if a part has no known licence.
"""
import hashlib
import json
import os
import re
import subprocess
import sys
import time

LICENCES = {
    "libfyaml": "MIT",
    "zlib": "Zlib",
    "libc6": "LGPL-2.1-or-later",
    "three": "MIT",
    "uplot": "MIT",
    "esbuild": "MIT",
    "playwright-core": "Apache-2.0",
    "libcholmod": "GPL-2.0-or-later",
    "libopenblas": "BSD-3-Clause",
    # of CHOLMOD and OpenBLAS
    "libamd": "BSD-3-Clause",
    "libcamd": "BSD-3-Clause",
    "libcolamd": "BSD-3-Clause",
    "libccolamd": "BSD-3-Clause",
    "libsuitesparseconfig": "BSD-3-Clause",
    "libmetis": "Apache-2.0",
    "libblas": "BSD-3-Clause",
    "liblapack": "BSD-3-Clause",
    "libgfortran": "GPL-3.0-or-later WITH GCC-exception-3.1",
    "libgcc": "GPL-3.0-or-later WITH GCC-exception-3.1",
    "libgomp": "GPL-3.0-or-later WITH GCC-exception-3.1",
    "libquadmath": "LGPL-2.1-or-later",
}
# Loaded when a scene asks for them (src/linear/blas.c).
LATER = ["libcholmod.so", "libopenblas.so.0"]


def output(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return ""


def licence_of(name):
    for begin, licence in LICENCES.items():
        if name.startswith(begin):
            return licence
    return "NOASSERTION"


def libraries(program):
    """Files of shared libraries that the program loads, now and later, and of what these load."""
    found = re.findall(r"=> (/\S+)", output("ldd", program))
    cache = output("/sbin/ldconfig", "-p")
    for name in LATER:
        for path in re.findall(r"=> (/\S*%s\S*)" % re.escape(name), cache)[:1]:
            found += [path, *re.findall(r"=> (/\S+)", output("ldd", path))]
    return sorted(set(found))


def debian_package(path):
    """Name and version of the package that a file is of; the file's name where there is none."""
    for one in (path, os.path.realpath(path), path.replace("/lib/", "/usr/lib/", 1)):
        owner = output("dpkg", "-S", one).split(":")[0]
        if owner:
            version = output("dpkg-query", "-W", "-f", "${Version}", owner)
            return owner, version or "NOASSERTION"
    return os.path.basename(path), "NOASSERTION"


def npm_packages(source):
    for place in ("web/report/package-lock.json", "web/playground/package-lock.json"):
        path = os.path.join(source, place)
        if not os.path.exists(path):
            continue
        with open(path) as file:
            for key, value in json.load(file).get("packages", {}).items():
                if key and not value.get("optional"):
                    name = key.split("node_modules/")[-1]
                    yield name, value.get("version", "NOASSERTION"), value.get("license")


def main():
    source, program, target = sys.argv[1:4]
    with open(program, "rb") as file:
        digest = hashlib.sha256(file.read()).hexdigest()
    version = re.search(r"\d+\.\d+\.\d+", output(program, "--version"))
    packages = {("brio", version.group() if version else "0"): "MIT"}
    for path in libraries(program):
        packages[debian_package(path)] = None
    for name, number, licence in npm_packages(source):
        packages[(name, number)] = licence
    rows, relations = [], []
    for i, ((name, number), licence) in enumerate(packages.items()):
        identity = "SPDXRef-%d" % i
        stated = licence or licence_of(name)
        row = {
            "SPDXID": identity,
            "name": name,
            "versionInfo": number,
            "filesAnalyzed": False,
            "downloadLocation": "NOASSERTION",
            "licenseConcluded": stated,
            "licenseDeclared": stated,
            "copyrightText": "NOASSERTION",
        }
        if i == 0:
            row["checksums"] = [{"algorithm": "SHA256", "checksumValue": digest}]
        rows.append(row)
        relations.append(
            {
                "spdxElementId": "SPDXRef-DOCUMENT" if i == 0 else "SPDXRef-0",
                "relationshipType": "DESCRIBES" if i == 0 else "DEPENDS_ON",
                "relatedSpdxElement": identity,
            }
        )
    moment = int(os.environ.get("SOURCE_DATE_EPOCH", time.time()))
    document = {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": "brio",
        "documentNamespace": "urn:brio:sbom:" + digest,
        "creationInfo": {
            "created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(moment)),
            "creators": ["Tool: brio-sbom"],
        },
        "packages": rows,
        "relationships": relations,
    }
    with open(target, "w") as file:
        json.dump(document, file, indent=1)
        file.write("\n")
    print("%s: %d packages" % (target, len(rows)))
    unknown = [row["name"] for row in rows if row["licenseDeclared"] in (None, "NOASSERTION")]
    if "--check" in sys.argv and (unknown or len(rows) < 5):
        print("sbom: no licence is known of: " + ", ".join(unknown), file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
