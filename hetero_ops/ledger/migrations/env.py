"""Runs the steps on the connection that is open already."""

from alembic import context

context.configure(connection=context.config.attributes["connection"])
context.run_migrations()
