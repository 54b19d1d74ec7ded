"""Tools around the runtime: traces and profiles, the command `ferrule`, readers of module files and interfaces."""
