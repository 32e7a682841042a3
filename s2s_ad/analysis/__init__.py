"""What can be found out about a program without changing it."""
