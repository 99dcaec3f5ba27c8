"""The site for programs: JSON in one envelope, opened by tokens alone.

Every answer is an object: ``{"ok": true, …}``, or ``{"ok": false, "error": "One sentence."}`` with the status
that fits. No cookie is read, so no page of another site can ask in somebody's name.
"""
