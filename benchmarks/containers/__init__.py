"""A site in containers, as ``docker-compose.yml`` starts it, without an image registry.

Begin with `__main__.py`. `images.py` makes the images, `engine.py` runs the container engine.
"""
