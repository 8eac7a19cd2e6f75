"""What is booked, durably: reservations, decisions, and what follows from them. SQLite or PostgreSQL by URL."""
