"""Users' tokens, sessions, devices and follows, and the notices, mails and digests sent to them.

Begin with `tokens.py`. Sign-up and log-in are those of django-allauth, with adapters in
`tournament.views.people`; who may see what is in `tournament.access`.
"""
