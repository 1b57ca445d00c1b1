#!/usr/bin/env python3
"""Computes the digest of the golden pack another way than the code that it tests.

Reads pack.json, puts together what a pack's digest is of (docs/packs.md), writes that
as RFC 8785 JSON to content.json and its SHA-256 to pack.digest. The pack has integers
and ASCII strings only, for which sorted keys and no spaces are RFC 8785.
"""
import hashlib
import json
import pathlib

here = pathlib.Path(__file__).parent
pack = json.loads((here / "pack.json").read_text())
content = {
    "schema": 1,
    "rows": 1,
    "seed": pack["seed"],
    "chains": [{"market": None, **c} for c in pack["chains"]],
    "apps": pack["apps"],
    "cases": pack["cases"],
    "self_tests": pack["self_tests"],
    "smoke": pack["smoke"],
    "isolation": pack["isolation"],
    "limits": pack["limits"],
    # Of scorers: what scoring.DefaultLimits documents.
    "scorer_limits": json.loads((here / "scorer_limits.json").read_text()),
    "rules": pack["rules"],
}
text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
(here / "content.json").write_text(text + "\n")
(here / "pack.digest").write_text(hashlib.sha256(text.encode()).hexdigest() + "\n")
