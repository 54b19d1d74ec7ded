"""What `ferrule doctor` finds out about this machine, and how it is told."""
