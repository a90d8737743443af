"""What fails when: spells, absences, outages; how long is waited, and what is noted."""
