"""A transfer on the air: media and their airtime, losses, deliveries."""
