"""The process as a whole: its main thread, locks after a fork, and log lines."""
