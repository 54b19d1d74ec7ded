"""Texts for messages and pages: names that were probably meant, and text as HTML may hold it."""
