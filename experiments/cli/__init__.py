"""The command line: one module a command, importing its work inside the command."""
