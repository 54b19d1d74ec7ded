"""What concerns the process as a whole: its main thread, locks in a forked child, and log lines."""
