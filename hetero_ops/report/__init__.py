"""Pictures of what was found. Needs the extra `report`."""
