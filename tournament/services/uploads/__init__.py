"""From a zip to a version that may play: `submission`, `validation`, `availability` (whether uploads run).

Begin with `submission.py`. The contents of a zip are checked in `engines.bundles`, a bot's protocol in
`workers.check`; `tournament.formats.validation` gives the verdict, `tournament.services.bots` carries it out.
"""
