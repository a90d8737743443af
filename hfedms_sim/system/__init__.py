"""What meets the machine: files, text of others, memory, checksums, compiled code, versions."""
