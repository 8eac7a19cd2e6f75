"""Airflow as a host: `@task.accelerated` and the provider that announces it."""
