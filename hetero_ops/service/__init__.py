"""The same answers over HTTP: a server with a warm fleet, and the client that hosts use where a URL is set."""
