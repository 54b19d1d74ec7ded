"""What the file of a module tells, on any system and for any other, without running any of it."""
