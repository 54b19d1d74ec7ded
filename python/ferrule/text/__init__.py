"""Text of messages and pages: suggestions of similar names, and HTML templates."""
