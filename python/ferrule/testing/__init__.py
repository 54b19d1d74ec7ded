"""What a backend module can be held against."""
