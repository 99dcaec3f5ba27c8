"""The Django project and app: the database, the schedule, the ratings, the pages and the API."""
