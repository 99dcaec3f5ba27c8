"""From a zip to a version that may play: `submission`, `validation`, `availability` (whether uploads run).

Begin with `submission.py`. The contents of a zip are checked in `engines.bundles`, a bot's protocol in
`workers.check`; the verdict is in `tournament.services.bots`.
"""
