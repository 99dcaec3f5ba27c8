"""From a zip to a version that may play: `submission`, `validation`, `availability` (whether uploads run)."""
