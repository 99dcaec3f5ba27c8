"""The API for programs: JSON, authenticated only by tokens. Begin with `envelope.py`.

Every response is an object: ``{"ok": true, …}``, or ``{"ok": false, "error": "One sentence."}`` with the HTTP
status of the error. Cookies are ignored, so a page of another site cannot send requests in a user's name.
Tokens are created in `tournament.services.accounts`; downloads for visitors are in `tournament.views`.
"""
