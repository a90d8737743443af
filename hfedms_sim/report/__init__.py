"""What people see of results: tables and progress on the terminal."""
