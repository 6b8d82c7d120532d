"""What papers printed, and the settings they printed it for; a folder a paper."""
