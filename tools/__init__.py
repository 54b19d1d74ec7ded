"""The commands of `./dev`. They need Python alone; what else a command needs, it installs."""
