"""The bundles of a worker: fetched from its site by their SHA-256 (`bundle_site`), unpacked in a `cache`.

`samples` are the bundles of bots that a worker trusts. `engines.bundles` reads, checks and unpacks bundles.
"""
